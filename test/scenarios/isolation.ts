import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Place } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../kit/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { type Client, client } from './client.ts'
import { connectMailboxes, PASSWORD } from './mailboxes.ts'
import { type Manner, startManyHooks } from './many-hooks.ts'

/** Where the service lives; with `redisUrl` its queue, cache and bus are there. */
export interface IsolationPlace extends Place {
  redisUrl?: string
}

export interface IsolationStory {
  /** In each act. */
  events: number
  healthy: number
  failing: number
  hanging: number
  resetting: number
  /** Between two events. */
  paceMs: number
  /** Instances on the same place; one unless there is PostgreSQL. */
  replicas?: number
  /** Called in the middle of the last act, beside the kill: to restart Redis, for example. */
  midway?(): Promise<void>
}

export interface IsolationFigures {
  /** From the event to its arrival at a healthy endpoint, 99th percentile, in milliseconds. */
  p99AloneMs: number
  p99BesideBadMs: number
  /** Resident memory of the first instance when the bad ones begin, and the most until the kill. */
  memoryBeforeBytes: number
  memoryMostBytes: number
  /** Requests that the bad endpoints saw. */
  badRequests: number
  repeats: number
}

const USER = 'isolation@mail.example'
const TIMEOUT_MS = 500

/**
 * Many endpoints at one host hear of the same events. Act one: the healthy ones alone. Act two: beside endpoints that answer
 * 500, hang and cut the connection. Act three: the same, and an instance is killed in the middle. The healthy ones get
 * everything in each act, and nothing is lost for the bad ones either: it waits.
 */
export async function playIsolation(place: IsolationPlace, story: IsolationStory): Promise<IsolationFigures> {
  const manners: Manner[] = [
    ...Array<Manner>(story.healthy).fill('well'),
    ...Array<Manner>(story.failing).fill('fail'),
    ...Array<Manner>(story.hanging).fill('hang'),
    ...Array<Manner>(story.resetting).fill('reset'),
  ]
  const [dovecot, hooks] = await Promise.all([startDovecot(), startManyHooks(manners)])
  const instances: ServiceProcess[] = []
  try {
    for (let count = story.replicas ?? 1; count > 0; count -= 1) instances.push(await startServiceProcess(place))
    const api = () => clientOf(instances)
    await dovecot.addUser(USER, PASSWORD)
    const accounts = await connectMailboxes(api(), dovecot, [USER])
    const accountId = accounts.get(USER) ?? ''
    await api().call('POST', `/accounts/${accountId}/pause`)
    for (const [index, manner] of manners.entries()) await subscribeHook(api(), index, manner, hooks.url(index))

    const act = async (name: string, onEvent: (index: number) => Promise<void> = async () => {}) => {
      const markers = Array.from({ length: story.events }, (_, index) => `${name}-${index}`)
      for (const [index, marker] of markers.entries()) {
        // Saying the same again changes nothing: a call whose answer was lost may be repeated.
        await eventually(() => api().call('PATCH', `/accounts/${accountId}`, { customUserId: marker }), 60_000, 100)
        await onEvent(index)
        await sleep(story.paceMs)
      }
      await eventually(() => hooks.expectAll(markers), 240_000, 200)
      return hooks.latenciesMs(markers)
    }

    const alone = await act('alone')
    for (const [index, manner] of manners.entries()) {
      if (manner !== 'well') await api().call('PUT', `/webhooks/endpoints/hook-${index}`, { isActive: true })
    }
    const memory = await watchMemory(instances)
    const beside = await act('beside')
    const memoryMostBytes = memory.stop()
    await act('killed', async (index) => {
      if (index !== Math.floor(story.events / 2)) return
      await instances[0]?.kill()
      const port = instances[0]?.port
      await story.midway?.()
      instances[0] = await startServiceProcess({ ...place, ...(port !== undefined && { port }) })
    })
    await expectNothingLost(api(), manners, story.events)
    return {
      p99AloneMs: p99(alone),
      p99BesideBadMs: p99(beside),
      memoryBeforeBytes: memory.beforeBytes,
      memoryMostBytes,
      badRequests: hooks.requestsBut('well'),
      repeats: hooks.repeats,
    }
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()))
    await hooks.close()
    await dovecot.stop()
  }
}

function clientOf(instances: readonly ServiceProcess[]): Client {
  const last = instances.at(-1)
  if (last === undefined) throw new Error('there is no instance')
  return client(last.url, last.key)
}

/** The bad ones hear of nothing in the first act. */
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

/** Each bad endpoint has a delivery for every event since it became active, and its circuit is not closed. */
async function expectNothingLost(api: Client, manners: readonly Manner[], events: number): Promise<void> {
  for (const [index, manner] of manners.entries()) {
    if (manner === 'well') continue
    const path = `/webhooks/deliveries?endpointId=hook-${index}&limit=1`
    await eventually(async () => {
      const { pagination } = await api.call<{ pagination: { total: number } }>('GET', path)
      expect(pagination.total).toBe(2 * events)
    }, 60_000)
    // It opens after a number of failures in a row, which a hanging endpoint reaches only timeout by timeout.
    await eventually(async () => {
      const { circuit } = await api.call<{ circuit: { state: string } }>('GET', `/webhooks/endpoints/hook-${index}`)
      expect([manner, circuit.state]).not.toEqual([manner, 'closed'])
    }, 60_000)
  }
}

const SAMPLE_MS = 250

async function watchMemory(instances: readonly ServiceProcess[]) {
  const bytes = async () => (await instances[0]?.memoryBytes()) ?? 0
  const beforeBytes = await bytes()
  let most = beforeBytes
  const timer = setInterval(() => {
    void bytes().then((now) => {
      most = Math.max(most, now)
    })
  }, SAMPLE_MS)
  return {
    beforeBytes,
    stop() {
      clearInterval(timer)
      return most
    },
  }
}

function p99(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))] ?? Number.NaN
}
