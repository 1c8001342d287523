import { openDatabase } from '../../test/kit/database/open-database.ts'
import { startServiceProcess } from '../../test/kit/service/process.ts'
import { readPages } from '../list-pages.ts'
import { startLoad } from '../load.ts'
import { spentBy } from '../spent.ts'
import type { Done, FilledStore, Work } from './work.ts'

const WARM_UP_MS = 2_000
const RUN_MS = 4_000

/** Pages of one account over HTTP, each read from the store. */
export const list: Work = {
  name: 'list',
  item: 'page',
  async run({ place, seed }: FilledStore): Promise<Done> {
    const load = await startLoad()
    const service = await startServiceProcess(place)
    const db = openDatabase(place)
    try {
      const { stored: pages } = await readPages(service, seed.mailbox)
      await load.run({ ...service, pages }, WARM_UP_MS)
      let items = 0
      const cpuMs = await spentBy(service.pid, db, async () => {
        items = (await load.run({ ...service, pages }, RUN_MS)).requests
      })
      return { items, cpuMs }
    } finally {
      await db.close()
      await service.stop()
      load.stop()
    }
  },
}
