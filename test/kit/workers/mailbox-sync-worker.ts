/**
 * A process that syncs the accounts of a `MailboxDouble` until it is killed. Prints `started`. Arguments: data folder,
 * database URL or '', kind, the double's file, poll interval in ms, pause after each sync in ms.
 */
import { sleep } from '../../../src/platform/concurrency/abort.ts'
import { openDatabase } from '../database/open-database.ts'
import { fileStore, MailboxDouble } from '../mailbox/double/mailbox-double.ts'
import { syncService } from '../mailbox/sync.ts'

const [dataDir = '', databaseUrl = '', kind = '', file = '', pollMs = '30', pauseMs = '0'] = process.argv.slice(2)
const db = openDatabase({ dataDir, databaseUrl })
const box = new MailboxDouble(kind === 'whole' ? 'whole' : 'folders', fileStore(file, false))
box.pollMs = Number(pollMs)

/** The next sync finds what changes in the mailbox during the pause. */
const openSession: typeof box.mail.openSession = (access) => {
  const session = box.mail.openSession(access)
  return {
    ...session,
    async *syncScope(request) {
      yield* session.syncScope(request)
      await sleep(Number(pauseMs))
    },
  }
}

const service = syncService(db, {
  mail: { ...box.mail, openSession },
  owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 },
  timing: { moveGraceMs: 20 },
})
await service.start()
process.stdout.write('started\n')
