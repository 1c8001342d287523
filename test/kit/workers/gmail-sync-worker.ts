/**
 * A process that syncs a mailbox of the fake Google until it is killed. Prints `started`. Arguments: data folder, database URL or '', URL
 * of the fake, access token, quota units in a second: the fewer, the fewer messages in a request.
 */
import { systemClock } from '../../../src/platform/time/clock.ts'
import { gmailProvider } from '../../../src/providers/gmail/index.ts'
import { openDatabase } from '../database/open-database.ts'
import { syncService } from '../mailbox/sync.ts'

const [dataDir = '', databaseUrl = '', apiUrl = '', accessToken = '', burst = ''] = process.argv.slice(2)
const { mail } = gmailProvider({ apiUrl, clock: systemClock, limits: { burst: Number(burst) } })
const access = {
  accountId: 'acc_gmail',
  email: 'ann@gmail.test',
  settings: {},
  secrets: {},
  accessToken: async () => accessToken,
}
const service = syncService(openDatabase({ dataDir, databaseUrl }), {
  mail: { ...mail, openSession: () => mail.openSession(access) },
  owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 },
})
await service.start()
process.stdout.write('started\n')
