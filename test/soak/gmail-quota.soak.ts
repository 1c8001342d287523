import { expect, it } from 'vitest'
import { closing } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { startService } from '../kit/service/service.ts'
import { type Google, startGoogle } from '../servers/google.ts'
import { plainMail } from '../servers/messages.ts'

const ADA = 'ada@example.com'
const FIRST = 500
const BURST = 400
const READ_EVERY_MS = 3000
const LIMIT_MS = 15 * 60_000

/** In real time, which a first sync and a burst within the quota of a new project take: about six minutes. */
it(
  'stores a first sync and a burst of mail within the quota of a new project, and answers live reads meanwhile',
  async () => {
    const google = closing(await startGoogle())
    google.addUser(ADA)
    google.quota.limit({ unitsPerMinute: 6000, concurrent: 40 })
    const first = deliverAll(google, FIRST, Date.now() - 30 * 86_400_000)
    const service = await startService({ environment: google.settings })
    closing({ close: () => service.stop() })
    const client = api(service.url, service.key)
    const { refreshToken } = await google.grant(ADA)
    const { id } = (await client.post('/accounts', { provider: 'gmail', refreshToken })).json
    const stored = async () => (await client.get(`/accounts/${id}/messages?limit=1`)).json.pagination?.total ?? 0

    const reads = [...(await readUntil(client, id, async () => (await stored()) === FIRST))]
    const burst = deliverAll(google, BURST, Date.now())
    reads.push(...(await readUntil(client, id, async () => (await stored()) === FIRST + BURST)))

    expect(reads.filter(({ status }) => status !== 200)).toEqual([])
    const slowestMs = Math.max(...reads.map(({ ms }) => ms))
    console.log(
      `${reads.length} live reads, the slowest ${Math.round(slowestMs)} ms; ${JSON.stringify(google.quota.total(ADA))}`,
    )
    const fetched = google.calls.matching({ part: true }).filter(({ status }) => status === 200)
    const ids = fetched.map(({ path }) => /messages\/(\w+)/.exec(path)?.[1] ?? '')
    expect(ids.sort()).toEqual([...first, ...burst].sort())
    expect((await announced(client, id)).sort()).toEqual(burst.map((_, at) => `mail ${at}`).sort())
    // Single parts of the first batches, until the size of batches fits.
    expect(google.quota.total(ADA).refused).toBeLessThanOrEqual((FIRST + BURST) / 50)

    const { gmailUnits } = (await client.get('/admin/provider-setups')).json
    expect(gmailUnits.today).toBeGreaterThanOrEqual(google.quota.total(ADA).spent)
    const metrics = await (
      await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.key}` } })
    ).text()
    expect(metrics).toContain(`posthorn_gmail_quota_units_total ${gmailUnits.today}`)
  },
  LIMIT_MS,
)

function deliverAll(google: Google, count: number, atMs: number): string[] {
  const mail = (at: number) => plainMail({ subject: `mail ${at}`, messageId: `<${atMs}-${at}@example.com>`, to: ADA })
  return Array.from({ length: count }, (_, at) => google.deliver(ADA, mail(at), { date: new Date(atMs + at * 1000) }))
}

/** Reads a stored message and searches the mailbox every few seconds, until the condition is true. */
async function readUntil(client: Api, accountId: string, isDone: () => Promise<boolean>) {
  const reads: { path: string; status: number; ms: number }[] = []
  let nextAt = performance.now() + READ_EVERY_MS
  await eventually(
    async () => {
      if (performance.now() >= nextAt) {
        nextAt = performance.now() + READ_EVERY_MS
        const [newest] = (await client.get(`/accounts/${accountId}/messages?limit=1`)).json.messages ?? []
        if (newest !== undefined) {
          for (const path of [`/messages/${newest.id}`, `/messages/${newest.id}/raw`]) {
            const startedAt = performance.now()
            const { status } = await client.get(`/accounts/${accountId}${path}`)
            reads.push({ path, status, ms: performance.now() - startedAt })
          }
        }
      }
      return isDone()
    },
    LIMIT_MS,
    200,
  )
  return reads
}

async function announced(client: Api, accountId: string): Promise<string[]> {
  const subjects: string[] = []
  for (let page = 1; ; page += 1) {
    const path = `/events?limit=200&page=${page}&accountId=${accountId}&type=message.received`
    const { events, pagination } = (await client.get(path)).json
    subjects.push(...events.map(({ data }: { data: { subject: string } }) => data.subject))
    if (!pagination.hasNext) return subjects
  }
}
