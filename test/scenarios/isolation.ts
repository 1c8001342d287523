import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../kit/eventually.ts'
import { HEAP_PROBE, type ServicePlace, type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../kit/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { type Client, client } from './client.ts'
import { expectBacklog, expectEachDelivered } from './isolation-checks.ts'
import { connectMailboxes, PASSWORD } from './mailboxes.ts'
import { type Manner, type ManyHooks, startManyHooks } from './many-endpoints.ts'
import { type MemoryFigures, watchMemory } from './memory-watch.ts'

export interface IsolationStory {
  /** In each act. */
  events: number
  /** Before the acts, so that no act is the one in which everything happens for the first time. */
  warmUp: number
  /** The first two acts are played in turns, so many times each with a share of their events. */
  rounds: number
  healthy: number
  failing: number
  hanging: number
  resetting: number
  /** Between two events, whatever became of the one before. */
  paceMs: number
  /** Instances on the same place; one unless there is PostgreSQL. */
  replicas?: number
  /** Called in the middle of each round beside the bad ones, and beside the kill: to restart Redis, for example. */
  midway?(): Promise<void>
}

export interface RoundFigures {
  /** From each event to its arrival at each healthy endpoint. */
  latenciesMs: number[]
  /** What was really asked of the service. */
  eventsPerSecond: number
}

export interface IsolationFigures {
  alone: RoundFigures[]
  besideBad: RoundFigures[]
  /** Of each instance, over both acts. */
  memory: MemoryFigures[]
  /** Deliveries to the healthy, over all acts, each counted and its ids compared. */
  delivered: number
  /** Requests that the bad endpoints saw. */
  badRequests: number
  repeats: number
}

const USER = 'isolation@mail.example'
const TIMEOUT_MS = 500

/**
 * Many endpoints at one host hear of the same events. Act one: the healthy ones alone. Act two: beside endpoints that answer
 * 500, hang and cut the connection. Both are played in turns: what grows or warms up over time, and what else the machine
 * does, falls on both; and each round begins with closed circuits, so it begins with the worst that the bad ones can do.
 * Act three: as act two, and an instance is killed in the middle. Events come at the same pace in each act, not slower
 * because the service is. The healthy ones get everything, and nothing is lost for the bad ones either: it waits.
 */
export async function playIsolation(place: ServicePlace, story: IsolationStory): Promise<IsolationFigures> {
  const manners = mannersOf(story)
  const [dovecot, hooks] = await Promise.all([startDovecot(), startManyHooks(manners)])
  const shared = { ...place, env: { ...SHARED_KEYS, ...HEAP_PROBE, ...place.env } }
  const instances: ServiceProcess[] = []
  try {
    for (let count = story.replicas ?? 1; count > 0; count -= 1) instances.push(await startServiceProcess(shared))
    const api = clientOf(instances)
    await dovecot.addUser(USER, PASSWORD)
    const accountId = (await connectMailboxes(api, dovecot, [USER])).get(USER) ?? ''
    await api.call('POST', `/accounts/${accountId}/pause`)
    for (const [index, manner] of manners.entries()) await subscribeHook(api, index, manner, hooks.url(index))
    const stage: Stage = { hooks, paceMs: story.paceMs, change: (marker) => changeAccount(api, accountId, marker) }
    const midway = () => story.midway?.() ?? Promise.resolve()

    await play(stage, 'warm', story.warmUp)
    const alone: RoundFigures[] = []
    const besideBad: RoundFigures[] = []
    const ofRound = Math.floor(story.events / story.rounds)
    const watching = watchMemory(instances)
    for (let round = 0; round < story.rounds; round += 1) {
      await watching.look()
      alone.push(await play(stage, `alone-${round}`, ofRound))
      await switchBad(api, manners, true)
      besideBad.push(await play(stage, `beside-${round}`, ofRound, { at: Math.floor(ofRound / 2), do: midway }))
      if (round < story.rounds - 1) await switchBad(api, manners, false)
    }
    await watching.look()
    const memory = watching.stop()
    await play(stage, 'killed', story.events, {
      at: Math.floor(story.events / 2),
      async do() {
        await instances[0]?.kill()
        await midway()
        instances[0] = await startServiceProcess({ ...shared, port: instances[0]?.port ?? 0 })
      },
    })
    const delivered = await expectEachDelivered(api, manners, hooks)
    await expectBacklog(api, manners, ofRound * story.rounds + story.events)
    const badRequests = hooks.requestsBut('well')
    return { alone, besideBad, memory, delivered, badRequests, repeats: hooks.repeats }
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()))
    await hooks.close()
    await dovecot.stop()
  }
}

function mannersOf({ healthy, failing, hanging, resetting }: IsolationStory): Manner[] {
  return [
    ...Array<Manner>(healthy).fill('well'),
    ...Array<Manner>(failing).fill('fail'),
    ...Array<Manner>(hanging).fill('hang'),
    ...Array<Manner>(resetting).fill('reset'),
  ]
}

/** The last one: with replicas it is never the one that is killed, and alone it comes back at the same address. */
function clientOf(instances: readonly ServiceProcess[]): Client {
  const last = instances.at(-1)
  if (last === undefined) throw new Error('there is no instance')
  return client(last.url, last.key)
}

/** The bad ones hear of nothing yet. */
async function subscribeHook(api: Client, index: number, manner: Manner, url: string): Promise<void> {
  await api.call('POST', '/webhooks/endpoints', {
    id: `hook-${index}`,
    url,
    secret: null,
    eventTypes: ['account.updated'],
    isActive: manner === 'well',
    timeoutMs: TIMEOUT_MS,
    retryCount: 20,
    retryDelayMs: 200,
  })
}

/** Inactive, they hear of nothing; what waits for them waits on. Active again, their circuits are closed. */
async function switchBad(api: Client, manners: readonly Manner[], isActive: boolean): Promise<void> {
  for (const [index, manner] of manners.entries()) {
    if (manner !== 'well') await api.call('PUT', `/webhooks/endpoints/hook-${index}`, { isActive })
  }
}

/** Saying the same again changes nothing: a call whose answer was lost may be repeated. */
async function changeAccount(api: Client, accountId: string, marker: string): Promise<void> {
  await eventually(() => api.call('PATCH', `/accounts/${accountId}`, { customUserId: marker }), 60_000, 100)
}

interface Stage {
  hooks: ManyHooks
  paceMs: number
  /** Makes one event. */
  change(marker: string): Promise<void>
}

/** What happens besides once so many events were made; the events go on meanwhile. */
interface Incident {
  at: number
  do(): Promise<void>
}

async function play(
  { hooks, paceMs, change }: Stage,
  name: string,
  events: number,
  incident?: Incident,
): Promise<RoundFigures> {
  const markers = Array.from({ length: events }, (_, index) => `${name}-${index}`)
  const startedMs = performance.now()
  let happening: Promise<void> | undefined
  for (const [index, marker] of markers.entries()) {
    await sleep(Math.max(0, startedMs + index * paceMs - performance.now()))
    if (index === incident?.at) happening = incident.do()
    await change(marker)
  }
  const tookMs = performance.now() - startedMs
  await happening
  await eventually(() => hooks.expectAll(markers), 240_000, 200)
  return { latenciesMs: hooks.latenciesMs(markers), eventsPerSecond: (1000 * events) / tookMs }
}
