/**
 * A process that syncs a mailbox of the fake Google until it is killed. Prints `started`. Arguments: data folder, database URL or '', URL
 * of the fake, access token, messages per step.
 */
import { systemClock } from '../../src/lib/clock.ts'
import { gmailProvider } from '../../src/providers/gmail/index.ts'
import { openDatabase } from './open-database.ts'
import { syncService } from './sync.ts'

const [dataDir = '', databaseUrl = '', apiUrl = '', accessToken = '', stepMessages = ''] = process.argv.slice(2)
const { mail } = gmailProvider({ apiUrl, clock: systemClock, limits: { stepMessages: Number(stepMessages) } })
const access = {
  ...{ accountId: 'acc_gmail', email: 'ann@gmail.test', settings: {}, secrets: {} },
  accessToken: async () => accessToken,
}
const service = syncService(openDatabase({ dataDir, databaseUrl }), {
  mail: { ...mail, openSession: () => mail.openSession(access) },
  owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 },
})
await service.start()
process.stdout.write('started\n')
