/** A process that brings mailboxes of ids in step until it is killed. Arguments: data folder, database URL or '', kind, file of the provider. Says `started`. */
import { join } from 'node:path'
import { openPostgres, openSqlite } from '../../src/infra/db/index.ts'
import { fileStore, MailboxDouble } from './mailbox-double.ts'
import { syncService } from './sync.ts'

const [dataDir = '', databaseUrl = '', kind = '', file = ''] = process.argv.slice(2)
const db =
  databaseUrl === ''
    ? openSqlite({ file: join(dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    : openPostgres({ url: databaseUrl, maxConnections: 4, onError: () => {} })
const box = new MailboxDouble(kind === 'whole' ? 'whole' : 'folders', fileStore(file, false))
box.pollMs = 30
const service = syncService(db, {
  mail: box.mail,
  owning: { roundMs: 100, deadAfterMs: 400 },
  timing: { moveGraceMs: 20 },
})
await service.start()
process.stdout.write('started\n')
