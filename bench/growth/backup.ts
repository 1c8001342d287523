import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { backup as writeBackup } from '../../src/app/backup/backup.ts'
import { checkArchive } from '../../src/app/backup/restore.ts'
import { loadConfig } from '../../src/config/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { openDatabase } from '../../test/kit/database/open-database.ts'
import { spentHere } from '../spent.ts'
import type { Done, FilledStore, Work } from './work.ts'

/** `posthorn backup` of everything, whose archive is then read to its end. */
export const backup: Work = {
  name: 'backup',
  item: 'row',
  async run({ place }: FilledStore): Promise<Done> {
    const db = openDatabase(place)
    const file = join(place.dataDir, 'growth.backup')
    const { signal } = new AbortController()
    try {
      const { config } = loadConfig({
        environment: {
          DATA_DIR: place.dataDir,
          DATABASE_URL: place.databaseUrl,
          SERVICE_API_KEY: 'bench-key-0123456789abcdef0123456789',
        },
        folder: place.dataDir,
      })
      let rows = 0
      const cpuMs = await spentHere(db, async () => {
        const options = { file, withKeys: false, nowMs: systemClock.now(), onRows: () => {}, signal }
        rows = (await writeBackup(config, options)).rows
      })
      const messages = await countArchived(file, 'messages', signal)
      const { count } = await db.read
        .selectFrom('messages')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      if (messages !== Number(count)) throw new Error(`The backup has ${messages} of ${count} messages.`)
      return { items: rows, cpuMs }
    } finally {
      await db.close()
      await rm(file, { force: true })
    }
  },
}

/** Throws when the archive is incomplete or its digests are wrong. */
async function countArchived(file: string, wanted: string, signal: AbortSignal): Promise<number> {
  let count = 0
  let before = 0
  const onRows = (_phase: string, table: string, total: number) => {
    if (table === wanted) count += total - before
    before = total
  }
  await checkArchive(file, { onRows, signal })
  return count
}
