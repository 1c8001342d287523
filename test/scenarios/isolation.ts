import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../kit/eventually.ts'
import {
  HEAP_PROBE,
  type ServicePlace,
  type ServiceProcess,
  SHARED_KEYS,
  startServiceProcess,
} from '../kit/service/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { type Client, client } from './client.ts'
import { expectBacklog, expectEachDelivered } from './isolation-checks.ts'
import { connectMailboxes, PASSWORD } from './mailboxes.ts'
import { type Behaviour, type ManyEndpoints, startManyEndpoints } from './many-endpoints.ts'
import { type MemoryFigures, watchMemory } from './memory-watch.ts'

export interface IsolationScenario {
  /** Per phase. */
  events: number
  /** Events before the first phase, so that no phase pays for cold caches. */
  warmUp: number
  /** The first two phases alternate this many times and divide their events among the rounds. */
  rounds: number
  healthy: number
  failing: number
  hanging: number
  resetting: number
  /** Between two events, whether or not the previous one was delivered. */
  paceMs: number
  /** Instances on the same database, default one. Several need PostgreSQL. */
  replicas?: number
  /** Runs in the middle of each unhealthy round and during the kill, for example to restart Redis. */
  midway?(): Promise<void>
}

export interface RoundFigures {
  /** From each event to its arrival at each healthy endpoint. */
  latenciesMs: number[]
  /** The rate at which events were really made. */
  eventsPerSecond: number
}

export interface IsolationFigures {
  healthyOnly: RoundFigures[]
  withUnhealthy: RoundFigures[]
  /** One entry per instance, over the first two phases. */
  memory: MemoryFigures[]
  /** Deliveries to healthy endpoints over all phases, each with verified ids. */
  delivered: number
  /** Requests that reached unhealthy endpoints. */
  unhealthyRequests: number
  duplicates: number
}

const USER = 'isolation@mail.example'
const TIMEOUT_MS = 500

/**
 * Sends the same events to many endpoints at one host, at a fixed pace. Phase one: only healthy endpoints are active.
 * Phase two: endpoints that return 500, hang or reset the connection are active too. The two phases alternate, so that
 * warm-up and other load on the machine affect both. Each round starts with closed circuits, the worst case. Phase three:
 * as phase two, with one instance killed midway. Healthy endpoints must receive everything, and the deliveries of
 * unhealthy ones must wait.
 */
export async function runIsolation(place: ServicePlace, scenario: IsolationScenario): Promise<IsolationFigures> {
  const behaviours = buildBehaviours(scenario)
  const [dovecot, endpoints] = await Promise.all([startDovecot(), startManyEndpoints(behaviours)])
  const shared = { ...place, env: { ...SHARED_KEYS, ...HEAP_PROBE, ...place.env } }
  const instances: ServiceProcess[] = []
  try {
    for (let count = scenario.replicas ?? 1; count > 0; count -= 1) instances.push(await startServiceProcess(shared))
    const api = openClient(instances)
    await dovecot.addUser(USER, PASSWORD)
    const accountId = (await connectMailboxes(api, dovecot, [USER])).get(USER) ?? ''
    await api.call('POST', `/accounts/${accountId}/pause`)
    for (const [index, behaviour] of behaviours.entries()) await subscribe(api, index, behaviour, endpoints.url(index))
    const load: Load = { endpoints, paceMs: scenario.paceMs, change: (marker) => changeAccount(api, accountId, marker) }
    const midway = () => scenario.midway?.() ?? Promise.resolve()

    await run(load, 'warm', scenario.warmUp)
    const healthyOnly: RoundFigures[] = []
    const withUnhealthy: RoundFigures[] = []
    const perRound = Math.floor(scenario.events / scenario.rounds)
    const memoryWatch = watchMemory(instances)
    for (let round = 0; round < scenario.rounds; round += 1) {
      await memoryWatch.measureHeap()
      healthyOnly.push(await run(load, `healthy-${round}`, perRound))
      await setUnhealthyActive(api, behaviours, true)
      withUnhealthy.push(await run(load, `unhealthy-${round}`, perRound, { at: Math.floor(perRound / 2), do: midway }))
      if (round < scenario.rounds - 1) await setUnhealthyActive(api, behaviours, false)
    }
    await memoryWatch.measureHeap()
    const memory = memoryWatch.stop()
    await run(load, 'killed', scenario.events, {
      at: Math.floor(scenario.events / 2),
      async do() {
        await instances[0]?.kill()
        await midway()
        instances[0] = await startServiceProcess({ ...shared, port: instances[0]?.port ?? 0 })
      },
    })
    const delivered = await expectEachDelivered(api, behaviours, endpoints)
    await expectBacklog(api, behaviours, perRound * scenario.rounds + scenario.events)
    const unhealthyRequests = endpoints.unhealthyRequests()
    return { healthyOnly, withUnhealthy, memory, delivered, unhealthyRequests, duplicates: endpoints.duplicates }
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()))
    await endpoints.close()
    await dovecot.stop()
  }
}

function buildBehaviours({ healthy, failing, hanging, resetting }: IsolationScenario): Behaviour[] {
  return [
    ...Array<Behaviour>(healthy).fill('healthy'),
    ...Array<Behaviour>(failing).fill('fail'),
    ...Array<Behaviour>(hanging).fill('hang'),
    ...Array<Behaviour>(resetting).fill('reset'),
  ]
}

/** A client of the last instance. Only the first is killed, and a single instance restarts at the same address. */
function openClient(instances: readonly ServiceProcess[]): Client {
  const last = instances.at(-1)
  if (last === undefined) throw new Error('no instance is running')
  return client(last.url, last.key)
}

/** Unhealthy endpoints start inactive. */
async function subscribe(api: Client, index: number, behaviour: Behaviour, url: string): Promise<void> {
  await api.call('POST', '/webhooks/endpoints', {
    id: `hook-${index}`,
    url,
    secret: null,
    eventTypes: ['account.updated'],
    isActive: behaviour === 'healthy',
    timeoutMs: TIMEOUT_MS,
    retryCount: 20,
    retryDelayMs: 200,
  })
}

/** An inactive endpoint gets no new deliveries and keeps the waiting ones. Activation closes its circuit. */
async function setUnhealthyActive(api: Client, behaviours: readonly Behaviour[], isActive: boolean): Promise<void> {
  for (const [index, behaviour] of behaviours.entries()) {
    if (behaviour !== 'healthy') await api.call('PUT', `/webhooks/endpoints/hook-${index}`, { isActive })
  }
}

/** Idempotent, so a call whose response was lost is repeated. */
async function changeAccount(api: Client, accountId: string, marker: string): Promise<void> {
  await eventually(() => api.call('PATCH', `/accounts/${accountId}`, { customUserId: marker }), undefined, 100)
}

interface Load {
  endpoints: ManyEndpoints
  paceMs: number
  /** Makes one event. */
  change(marker: string): Promise<void>
}

/** Starts after the event number `at`, while events continue. */
interface Incident {
  at: number
  do(): Promise<void>
}

async function run(
  { endpoints, paceMs, change }: Load,
  name: string,
  events: number,
  incident?: Incident,
): Promise<RoundFigures> {
  const markers = Array.from({ length: events }, (_, index) => `${name}-${index}`)
  const startedMs = performance.now()
  let incidentDone: Promise<void> | undefined
  for (const [index, marker] of markers.entries()) {
    await sleep(Math.max(0, startedMs + index * paceMs - performance.now()))
    if (index === incident?.at) incidentDone = incident.do()
    await change(marker)
  }
  const tookMs = performance.now() - startedMs
  await incidentDone
  await eventually(() => endpoints.expectAll(markers), undefined, 200)
  return { latenciesMs: endpoints.latenciesMs(markers), eventsPerSecond: (1000 * events) / tookMs }
}
