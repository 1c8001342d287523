/**
 * A process that changes a message of a `MailboxDouble` through the API's service and kills itself after the provider accepted the
 * change, before it is stored. Arguments: data folder, database URL or '', kind, the double's file, account id, message id, action.
 */
import type { Db } from '../../../src/platform/db/index.ts'
import { openDatabase } from '../database/open-database.ts'
import { fileStore, MailboxDouble } from '../mailbox/double/mailbox-double.ts'
import { syncService } from '../mailbox/sync.ts'

const [dataDir = '', databaseUrl = '', kind = '', file = '', accountId = '', messageId = '', action = ''] =
  process.argv.slice(2)
const database = openDatabase({ dataDir, databaseUrl })
const db: Db = {
  ...database,
  async transaction() {
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  },
}
const box = new MailboxDouble(kind === 'whole' ? 'whole' : 'folders', fileStore(file, false))
const { changer } = syncService(db, { mail: box.mail })
if (action === 'remove') await changer.remove(accountId, messageId)
else if (action === 'move') await changer.changeOne(accountId, messageId, { labelIds: ['Work'] })
else await changer.changeOne(accountId, messageId, { unread: false })
