import { openSecrets } from './infra/secrets/index.ts'
import type { App, Ground } from './lifecycle.ts'
import { migrateAtStart, openStore, type Store } from './store.ts'

/** The whole service, wired: the only file that knows every room and every kind. */
export function app(ground: Ground): App {
  const { config, log, redactor } = ground
  let store: Store | undefined
  return {
    async start(aborted) {
      store = await openStore(config, log, aborted)
      await migrateAtStart(store.db, config, log)
      await openSecrets({ given: config, db: store.db, dataDir: config.dataDir, log, redactor })
      return { url: `http://${config.host}:${config.port}` }
    },
    async stop() {
      await store?.close()
    },
  }
}
