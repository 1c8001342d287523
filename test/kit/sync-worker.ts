/** A process that syncs mailboxes until it is killed. Arguments: data folder, database URL or ''. Prints `started`. */
import { join } from 'node:path'
import { openPostgres, openSqlite } from '../../src/infra/db/index.ts'
import { syncService } from './sync.ts'

const [dataDir = '', databaseUrl = ''] = process.argv.slice(2)
const db =
  databaseUrl === ''
    ? openSqlite({ file: join(dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    : openPostgres({ url: databaseUrl, maxConnections: 4, onError: () => {} })
const service = syncService(db, {
  settings: { initialMessages: 2000, folders: ['Work'] },
  owning: { roundMs: 100, deadAfterMs: 400 },
  timing: { pollMs: 500 },
})
await service.start()
process.stdout.write('started\n')
