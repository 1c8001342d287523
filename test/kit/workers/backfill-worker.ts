/**
 * A process that backfills the accounts of a `MailboxDouble`, or of a mail server, until it is killed. Prints `started`. Arguments: data
 * folder, database URL or '', kind, the double's file or ''.
 */

import { openDatabase } from '../database/open-database.ts'
import { fileStore, MailboxDouble } from '../mailbox/double/mailbox-double.ts'
import { syncService } from '../mailbox/sync.ts'

const [dataDir = '', databaseUrl = '', kind = '', file = ''] = process.argv.slice(2)
const box =
  kind === 'imap' ? undefined : new MailboxDouble(kind === 'whole' ? 'whole' : 'folders', fileStore(file, false))
const service = syncService(openDatabase({ dataDir, databaseUrl }), {
  ...(box && { mail: box.mail }),
  settings: { initialMessages: 10 },
  owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 },
  timing: { moveGraceMs: 20, pollMs: 500 },
})
await service.start()
await service.backfill.start()
process.stdout.write('started\n')
