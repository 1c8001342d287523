import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../test/kit/eventually.ts'
import { connectMailboxes, numberedMessage, PASSWORD } from '../../test/scenarios/mailboxes.ts'
import type { Dovecot } from '../../test/servers/dovecot.ts'
import { verifyRequest } from '../../test/servers/receiver.ts'
import { cpuMs } from '../figures.ts'
import type { Recorded, Recorder } from '../recorder.ts'
import { DATA } from '../sink.ts'
import type { Installation } from './installation.ts'

/** What an installation did with one load. */
export interface LoadFigures {
  perSecond: number
  /** CPU time of all instances for each delivery or message. */
  cpuMsEach: number
  /** CPU time of each instance, in cores. */
  cores: number[]
  /** Requests that repeated a delivery under its id. */
  repeated: number
}

export interface Load {
  /** Throws when something was lost, repeated under another id, or not signed. */
  run(count: number): Promise<LoadFigures>
}

const ENDPOINTS = Number(process.env.BENCH_ENDPOINTS ?? 20)
const EVENTS_PER_TRANSACTION = 20
const TYPE = 'message.received'
const PATIENCE_MS = 180_000
/** What follows an event a second time would arrive within it. */
const AFTERWARDS_MS = 1_000

/** Events that are recorded at once, each for ten endpoints. */
export async function openDeliveries(installation: Installation, recorder: Recorder): Promise<Load> {
  const secrets = new Map<string, string>()
  for (let index = 0; index < ENDPOINTS; index += 1) {
    const path = `/deliveries-${index}`
    const body = { url: new URL(path, recorder.url).href, eventTypes: [TYPE] }
    secrets.set(path, (await installation.api.call<{ secret: string }>('POST', '/webhooks/endpoints', body)).secret)
  }
  return {
    async run(count) {
      const { recording } = installation
      const measured = await measure(installation, recorder, count, async () => {
        const ids: string[] = []
        while (ids.length < count / ENDPOINTS) {
          const some = Math.min(EVENTS_PER_TRANSACTION, count / ENDPOINTS - ids.length)
          const events = Array.from({ length: some }, () => ({ type: TYPE, data: DATA }) as const)
          ids.push(...(await recording.record(...events)))
        }
        return ids.flatMap((id) => [...secrets.keys()].map((path) => `${path} ${id}`))
      })
      const readName = (request: Recorded) => {
        const { id } = readBody(request, secrets)
        return `${request.path} ${id}`
      }
      return { ...measured.figures, repeated: expectEachOnce(measured.expected, measured.requests, readName) }
    },
  }
}

/** Messages that arrive in all mailboxes of an installation as fast as Dovecot accepts them. */
export async function openNewMail(
  installation: Installation,
  recorder: Recorder,
  dovecot: Dovecot,
  users: readonly string[],
): Promise<Load> {
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  const path = '/mail'
  const body = { url: new URL(path, recorder.url).href, eventTypes: [TYPE] }
  const { secret } = await installation.api.call<{ secret: string }>('POST', '/webhooks/endpoints', body)
  const secrets = new Map([[path, secret]])
  await connectMailboxes(installation.api, dovecot, users)
  let sent = 0
  return {
    async run(count) {
      const subjects = users.map((user) =>
        Array.from({ length: Math.ceil(count / users.length) }, (_, index) => `${user.split('@')[0]}-${sent + index}`),
      )
      sent += count
      const expected = subjects.flat()
      const measured = await measure(installation, recorder, expected.length, async () => {
        await Promise.all(
          users.map((user, index) => {
            const messages = (subjects[index] ?? []).map((subject) => Buffer.from(numberedMessage(subject)))
            return dovecot.deliverMany(user, messages)
          }),
        )
        return expected
      })
      const readName = (request: Recorded) => readBody(request, secrets).data.subject
      return { ...measured.figures, repeated: expectEachOnce(expected, measured.requests, readName) }
    },
  }
}

/** From the beginning of `cause`, which returns what must arrive, to the last request. */
async function measure(
  { instances }: Installation,
  recorder: Recorder,
  count: number,
  cause: () => Promise<string[]>,
): Promise<{ expected: string[]; requests: Recorded[]; figures: Omit<LoadFigures, 'repeated'> }> {
  await recorder.take()
  const readCpu = () => Promise.all(instances.map(({ pid }) => cpuMs(pid)))
  const before = await readCpu()
  const startedAtMs = performance.timeOrigin + performance.now()
  const expected = await cause()
  await eventually(async () => (await recorder.count()) >= count, PATIENCE_MS, 20).catch(() => {})
  const after = await readCpu()
  await sleep(AFTERWARDS_MS)
  const requests = await recorder.take()
  const tookMs = Math.max(...requests.map(({ atMs }) => atMs)) - startedAtMs
  const used = after.map((sum, index) => sum - (before[index] ?? 0))
  const cpuMsEach = used.reduce((total, one) => total + one, 0) / count
  const cores = used.map((one) => one / tookMs)
  return { expected, requests, figures: { perSecond: (1000 * count) / tookMs, cpuMsEach, cores } }
}

interface Body {
  id: string
  deliveryId: string
  data: { subject: string }
}

/** Throws for a request that the application would refuse. */
function readBody({ path, headers, body }: Recorded, secrets: ReadonlyMap<string, string>): Body {
  const secret = secrets.get(path)
  if (secret === undefined) throw new Error(`No endpoint has the path ${path}.`)
  verifyRequest(secret, { headers, body })
  return JSON.parse(body)
}

/** Requires one delivery for each name. Returns how many requests repeated one under its id. */
function expectEachOnce(
  expected: readonly string[],
  requests: readonly Recorded[],
  readName: (request: Recorded) => string,
): number {
  const deliveries = new Map(expected.map((name) => [name, new Set<string>()]))
  for (const request of requests) {
    const found = deliveries.get(readName(request))
    if (found === undefined) throw new Error(`Nobody expected ${readName(request)}.`)
    found.add(JSON.parse(request.body).deliveryId)
  }
  const counts = [...deliveries.values()].map(({ size }) => size)
  const [lost, twice] = [counts.filter((size) => size === 0).length, counts.filter((size) => size > 1).length]
  if (lost + twice > 0) throw new Error(`Of ${expected.length} deliveries, ${lost} were lost and ${twice} sent twice.`)
  return requests.length - expected.length
}
