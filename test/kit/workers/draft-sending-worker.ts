/**
 * A process that creates, changes and sends drafts through the API, as an application does that repeats every request with its
 * Idempotency-Key or `If-Match`. It sends them, too, until it is killed. Prints `started`, and `done` when
 * every request succeeded. Arguments: data folder, database URL or '', account id, subjects joined by `,`, and by how much its clock
 * is ahead: a process that starts after a killed one must not wait for its leases.
 */
import { draftRoutes } from '../../../src/mail/drafts/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import { openDatabase } from '../database/open-database.ts'
import { testServer } from '../http/server.ts'
import { compose } from '../service/composition.ts'

const [dataDir = '', databaseUrl = '', accountId = '', subjects = '', aheadMs = '0'] = process.argv.slice(2)
const clock = { ...systemClock, now: () => systemClock.now() + Number(aheadMs) }
const { features } = compose(openDatabase({ dataDir, databaseUrl }), {
  clock,
  features: { outbox: { searchPausesMs: [0, 100], retry: { baseMs: 50, capMs: 500 }, leaseMs: 1000, sweepMs: 200 } },
})
const { drafts, idempotency } = features
const app = testServer({ idempotency })
draftRoutes(app, { drafts, idempotency })
await app.ready()
await features.sender.start()
process.stdout.write('started\n')

async function request(method: 'POST' | 'PUT', url: string, payload: object, headers: Record<string, string>) {
  const response = await app.inject({ method, url, payload, headers: { authorization: 'Bearer good', ...headers } })
  return { status: response.statusCode, json: response.json() }
}

async function createAndSend(subject: string): Promise<void> {
  const body = { accountId, to: ['bob@example.com'], subject, body: 'one' }
  const created = await request('POST', '/drafts', body, { 'idempotency-key': `create ${subject}` })
  const path = `/drafts/${created.json.id}`
  // 409: changed before an earlier process died. 404: sent, too. A change after the acceptance would keep the draft.
  const changed = await request('PUT', path, { body: 'two' }, { 'if-match': '1' })
  const sent = await request('POST', `${path}/send`, {}, { 'idempotency-key': `send ${subject}` })
  const isExpected = created.status === 200 && [200, 404, 409].includes(changed.status) && sent.status === 200
  if (!isExpected) throw new Error(`${subject}: ${JSON.stringify([created, changed, sent])}`)
}

await Promise.all(subjects.split(',').map(createAndSend))
process.stdout.write('done\n')
