/**
 * A process that syncs mailboxes until it is killed. Arguments: data folder, database URL or '', and optionally a number of messages:
 * it kills itself right after the commit that stores so many. Prints `started`.
 */
import type { Db } from '../../../src/platform/db/index.ts'
import { openDatabase } from '../database/open-database.ts'
import { syncService } from '../mailbox/sync.ts'

const [dataDir = '', databaseUrl = '', messages] = process.argv.slice(2)
const database = openDatabase({ dataDir, databaseUrl })
const db: Db = {
  ...database,
  async transaction(body) {
    const result = await database.transaction(body)
    if (messages !== undefined && (await storedMessages()) >= Number(messages)) process.kill(process.pid, 'SIGKILL')
    return result
  },
}
const service = syncService(db, {
  settings: { initialMessages: 2000, folders: ['Work'] },
  owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 },
  // Messages that cannot be read are not read again, however long the processes take.
  timing: { pollMs: 500, itemRetry: { baseMs: 600_000, capMs: 600_000 } },
})
await service.start()
process.stdout.write('started\n')

async function storedMessages(): Promise<number> {
  return (await database.read.selectFrom('messages').select('id').execute()).length
}
