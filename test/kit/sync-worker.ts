/** A process that syncs mailboxes until it is killed. Arguments: data folder, database URL or ''. Prints `started`. */
import { openDatabase } from './open-database.ts'
import { syncService } from './sync.ts'

const [dataDir = '', databaseUrl = ''] = process.argv.slice(2)
const db = openDatabase({ dataDir, databaseUrl })
const service = syncService(db, {
  settings: { initialMessages: 2000, folders: ['Work'] },
  owning: { roundMs: 100, deadAfterMs: 400 },
  timing: { pollMs: 500 },
})
await service.start()
process.stdout.write('started\n')
