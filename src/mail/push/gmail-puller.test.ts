import { expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { closing } from '../../../test/kit/closing.ts'
import { databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { startGoogle } from '../../../test/servers/google.ts'
import { type Log, silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { gmailPuller } from './index.ts'

const open = databases('sqlite')
const ADA = 'ada@example.com'

/** A puller whose first `failures` requests for syncs cannot be stored. */
async function puller(failures: number, maxRetries: number) {
  const db = await open()
  const google = await startGoogle()
  closing({ close: () => google.close() })
  google.pubsub.pullWaitMs = 50
  const { link } = testAccounts(db)
  const { id } = await link({ provider: 'gmail', providerUser: ADA, email: ADA })
  const errors: string[] = []
  const log: Log = { ...silentLog, error: (message) => void errors.push(message), with: () => log }
  const requests: string[][] = []
  let failed = 0
  const made = gmailPuller({
    db,
    clock: systemClock,
    log,
    settings: {
      url: google.url,
      topicName: google.pubsub.topicName,
      subscriptionName: google.pubsub.subscriptionName,
      credentials: google.pubsub.credentials,
      maxMessages: 10,
      ackDeadlineSeconds: 10,
      maxRetries,
    },
    accounts: {
      async requestSync(_tx, accountIds) {
        if (failed < failures) {
          failed += 1
          throw new Error('the database is away')
        }
        requests.push([...accountIds])
      },
    },
    timing: { commit: { baseMs: 5, capMs: 5 } },
  })
  closing({ close: () => made.stop() })
  made.start()
  await eventually(() => expect(made.state.ready).toBe(true))
  return { google, id, errors, requests, failed: () => failed }
}

it('retries a request that cannot be stored, and acknowledges the notification once it is', async () => {
  const { google, id, errors, requests, failed } = await puller(2, 5)
  google.pubsub.publish({ emailAddress: ADA, historyId: '10' })
  await eventually(() => expect(google.pubsub.waiting).toBe(0))
  expect([failed(), requests, errors]).toEqual([2, [[id]], []])
})

it('acknowledges notifications after the last retry, logs it, and processes a later duplicate', async () => {
  const { google, id, errors, requests, failed } = await puller(3, 2)
  google.pubsub.publish({ emailAddress: ADA, historyId: '10' })
  await eventually(() => expect(google.pubsub.waiting).toBe(0))
  expect([failed(), requests]).toEqual([3, []])
  expect(errors).toEqual([expect.stringContaining('wait for their next poll')])
  google.pubsub.publish({ emailAddress: ADA, historyId: '10' })
  await eventually(() => expect(requests).toEqual([[id]]))
})
