import { EventEmitter, once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describePostgres } from '../../../test/kit/database/database.ts'
import { describeRedis } from '../../../test/kit/database/redis.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { expectForgeriesRefused } from '../../../test/kit/http/cursors.ts'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { type Bus, openPostgresBus, openRedisBus } from '../../platform/bus/index.ts'
import { memoryCache } from '../../platform/cache/index.ts'
import type { App } from '../../platform/http/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { type Log, type LogRing, logger, logRing, redactor, silentLog } from '../../platform/log/index.ts'
import { fixedClock, systemClock } from '../../platform/time/clock.ts'
import { LogStreams, logRoutes, type SharedLogs, sharedLogs } from './index.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const instance of opened.splice(0).reverse()) await instance.close()
})

/** The dependencies that replicas in one process share. */
function network() {
  const listeners = new Map<string, Set<(payload: string) => void>>()
  const largest = { bytes: 0 }
  const bus: Bus = {
    provider: 'memory',
    publish(topic, payload = '') {
      largest.bytes = Math.max(largest.bytes, Buffer.byteLength(payload))
      for (const listener of listeners.get(topic) ?? []) queueMicrotask(() => listener(payload))
    },
    subscribe(topic, listener) {
      const subscribed = listeners.get(topic) ?? new Set()
      listeners.set(topic, subscribed.add(listener))
      return () => void subscribed.delete(listener)
    },
    ping: async () => {},
    close: async () => {},
  }
  return { bus, largest }
}

interface Replica {
  log: Log
  ring: LogRing
  shared: SharedLogs
  streams: LogStreams
}

const clock = fixedClock(Date.parse('2026-01-31T08:00:00Z'))

function replica(instanceId: string, instances: string[], bus: Bus, waitMs = 50): Replica {
  const ring = logRing()
  // Advances the clock for each record, so that ids are in the order of writing.
  const ids = idGenerator(clock)
  const log = logger({
    level: 'trace',
    clock,
    ids: (prefix) => {
      clock.advance(1)
      return ids(prefix)
    },
    instance: instanceId,
    redactor: redactor(),
    sinks: [ring.add],
  })
  const shared = sharedLogs({ bus, ring, instanceId, instances: async () => instances, waitMs })
  const streams = new LogStreams({
    bus,
    ring,
    instanceId,
    clock: systemClock,
    log: silentLog,
    logs: shared,
    collectMs: 1,
    heartbeatMs: 50,
  })
  opened.push(shared, streams)
  return { log, ring, shared, streams }
}

async function serve(of: Replica): Promise<Api> {
  const app: App = testServer()
  logRoutes(app, { logs: of.shared, streams: of.streams, cache: memoryCache({ clock }) })
  opened.push(app)
  return api(await app.listen({ port: 0, host: '127.0.0.1' }), 'reader')
}

const messages = (response: { json: { logs: { message: string }[] } }) =>
  response.json.logs.map((entry) => entry.message)

describe('GET /logs', () => {
  it('lists the newest first, 100 by default, in the documented shape', async () => {
    const instance = replica('ins_1', ['ins_1'], network().bus)
    for (let i = 0; i < 150; i += 1) instance.log.info(String(i))
    instance.log.warn('slow', { accountId: 'acc_1', provider: 'imap', operation: 'sync.folder', metadata: { n: [1] } })
    const response = await (await serve(instance)).get('/logs')
    expect(response.json.pagination).toMatchObject({ page: 1, limit: 100, total: 151, totalPages: 2, hasNext: true })
    expect(response.json.missingInstances).toEqual([])
    expect(response.json.logs[0]).toEqual({
      id: expect.stringMatching(/^log_/),
      level: 'warn',
      message: 'slow',
      timestamp: expect.stringMatching(/^2026-01-31T08:/),
      accountId: 'acc_1',
      provider: 'imap',
      operation: 'sync.folder',
      requestId: null,
      durationMs: null,
      error: null,
      metadata: { n: [1] },
      instance: 'ins_1',
    })
  })

  it('filters exactly and rejects an unknown level', async () => {
    const instance = replica('ins_1', ['ins_1'], network().bus)
    instance.log.warn('w', { accountId: 'acc_1' })
    instance.log.error('e', { accountId: 'acc_1' })
    const client = await serve(instance)
    expect(messages(await client.get('/logs?level=warn'))).toEqual(['w'])
    expect(messages(await client.get('/logs?accountId=acc_2'))).toEqual([])
    instance.log.info('s', { operation: 'sync.account', provider: 'imap' })
    instance.log.info('c', { operation: 'sync.calendars', provider: 'gmail' })
    expect(messages(await client.get('/logs?operation=sync.account'))).toEqual(['s'])
    expect(messages(await client.get('/logs?operation=sync.*'))).toEqual(['c', 's'])
    expect(messages(await client.get('/logs?operation=sync.*&provider=imap'))).toEqual(['s'])
    expect(messages(await client.get('/logs?operation=syn.*'))).toEqual([])
    const unknown = await client.get('/logs?level=warning')
    expect(unknown.status).toBe(400)
    expect(unknown.json.error.details).toEqual([
      { path: 'query.level', message: 'must be one of: trace, debug, info, warn, error, fatal' },
    ])
    expect((await api(client.url).get('/logs')).status).toBe(401)
  })

  it('shows a sync after any number of requests, and the requests when asked for them', async () => {
    const { bus } = network()
    const [one, other] = [replica('ins_1', ['ins_1', 'ins_2'], bus), replica('ins_2', ['ins_1', 'ins_2'], bus)]
    for (const { log } of [one, other]) {
      log.info('synced', { operation: 'sync.account' })
      for (let i = 0; i < 3000; i += 1) log.info('GET /accounts 200', { operation: 'http.request' })
      log.error('GET /accounts 500', { operation: 'http.request' })
    }
    const client = await serve(one)
    const expected = ['GET /accounts 500', 'synced', 'GET /accounts 500', 'synced']
    expect(messages(await client.get('/logs'))).toEqual(expected)
    expect((await client.get('/logs?operation=http.*')).json.pagination.total).toBe(4000)
    expect((await client.get('/logs?operation=*')).json.pagination.total).toBe(4002)
  })

  it('continues on page 2 where page 1 ended although new records arrive', async () => {
    const instance = replica('ins_1', ['ins_1'], network().bus)
    for (let i = 1; i <= 10; i += 1) instance.log.info(String(i))
    const client = await serve(instance)
    expect(messages(await client.get('/logs?limit=4'))).toEqual(['10', '9', '8', '7'])
    instance.log.info('11')
    const second = await client.get('/logs?limit=4&page=2')
    expect(messages(second)).toEqual(['6', '5', '4', '3'])
    expect(second.json.pagination).toMatchObject({ page: 2, total: 10, hasNext: true, hasPrev: true })
    const third = await client.get(`/logs?limit=4&cursor=${second.json.pagination.nextCursor}`)
    expect(messages(third)).toEqual(['2', '1'])
    expect(third.json.pagination.hasNext).toBe(false)
    expect(messages(await client.get('/logs?limit=4'))).toEqual(['11', '10', '9', '8'])
    await expectForgeriesRefused(second.json.pagination.nextCursor, async (query) => {
      const { status, json } = await client.get(`/logs?limit=4&${query}`)
      return { status, body: json }
    })
    const foreign = await client.get(`/logs?level=info&cursor=${second.json.pagination.nextCursor}`)
    expect([foreign.status, foreign.json.error.code]).toEqual([400, 'invalid_cursor'])
  })
})

/** Opens the bus of one more replica. */
type Join = () => Promise<Bus>

/** Three replicas that know each other, and optionally one that never responds. */
async function replicas(join: Join, silent?: { id: string; waitMs: number }): Promise<[Replica, Replica, Replica]> {
  const all = ['ins_1', 'ins_2', 'ins_3', ...(silent === undefined ? [] : [silent.id])]
  const opening = async (id: string) => replica(id, all, await join(), silent?.waitMs ?? 10_000)
  return Promise.all([opening('ins_1'), opening('ins_2'), opening('ins_3')])
}

function describeRings(title: string, begin: () => Promise<Join>): void {
  describe(`the rings of several replicas ${title}`, () => {
    it('are merged into one list', async () => {
      const [first, second, third] = await replicas(await begin())
      for (let i = 1; i <= 30; i += 1) {
        const writer = [first, second, third][i % 3]
        // Together too long for one hint.
        writer?.log.info(`${i} ${'ü€'.repeat(200)}`)
      }
      const client = await serve(second)
      const response = await client.get('/logs?limit=20')
      expect(messages(response).map((text) => Number.parseInt(text, 10))).toEqual(
        Array.from({ length: 20 }, (_, i) => 30 - i),
      )
      expect(response.json.pagination).toMatchObject({ total: 30, hasNext: true })
      expect(messages(await client.get('/logs?limit=20&page=2'))).toHaveLength(10)
      expect(new Set(response.json.logs.map((entry: { instance: string }) => entry.instance)).size).toBe(3)
      expect(response.json.missingInstances).toEqual([])
    })

    it('serve two concurrent requests separately', async () => {
      const [first, second, third] = await replicas(await begin())
      for (const instance of [first, second, third]) instance.log.info('i')
      third.log.warn('w')
      const [asking, other] = [await serve(first), await serve(second)]
      const [warnings, infos] = await Promise.all([asking.get('/logs?level=warn'), other.get('/logs?level=info')])
      expect([messages(warnings), messages(infos)]).toEqual([['w'], ['i', 'i', 'i']])
    })

    it('are merged without a silent replica, which is reported', async () => {
      const [first, second] = await replicas(await begin(), { id: 'ins_silent', waitMs: 2000 })
      first.log.info('a')
      second.log.info('b')
      const response = await (await serve(first)).get('/logs')
      expect(messages(response)).toEqual(['b', 'a'])
      expect(response.json.missingInstances).toEqual(['ins_silent'])
    })
  })
}

describeRings('in one process', async () => {
  const { bus } = network()
  return async () => bus
})

describePostgres('over NOTIFY:', (open) => {
  describeRings('on PostgreSQL', async () => {
    const place = await open.place()
    return async () => opening(openPostgresBus({ url: place.databaseUrl ?? '', db: await open(place), log: silentLog }))
  })
})

describeRedis('over PUBLISH:', (redis) => {
  describeRings(
    'on Redis',
    async () => async () => opening(openRedisBus({ redis: await redis.link(), log: silentLog })),
  )
})

describe('a ring among several replicas', () => {
  it('responds in payloads that fit the bus', async () => {
    const { bus, largest } = network()
    const [first, second] = await replicas(async () => bus)
    for (let i = 1; i <= 30; i += 1) second.log.info(`${i} ${'ü€'.repeat(200)}`)
    expect(messages(await (await serve(first)).get('/logs'))).toHaveLength(30)
    expect(largest.bytes).toBeLessThan(4096)
  })

  it('is listed alone when the list of replicas cannot be read', async () => {
    const { bus } = network()
    const { log, ring, streams } = replica('ins_1', [], bus)
    const instances = () => Promise.reject(new Error('down'))
    const shared = sharedLogs({ bus, ring, instanceId: 'ins_1', instances })
    opened.push(shared)
    log.error('the database is down')
    const response = await (await serve({ log, ring, shared, streams })).get('/logs')
    expect(messages(response)).toEqual(['the database is down'])
    expect(response.json.missingInstances).toEqual(['unknown'])
  })
})

const buildStart = (owner: string) => ({
  filter: {},
  after: undefined,
  owner,
  connection: Object.assign(new EventEmitter(), { writableLength: 0 }),
})

/** The frames of `GET /logs/stream` so far: `event` and `data`. */
async function follow(client: Api, query = '', lastEventId?: string) {
  const ending = new AbortController()
  opened.push({ close: () => ending.abort() })
  const headers = {
    authorization: 'Bearer reader',
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const response = await fetch(`${client.url}/logs/stream${query}`, { headers, signal: ending.signal })
  const state = { text: '', status: response.status, ended: false, end: () => ending.abort() }
  const read = async () => {
    for await (const chunk of response.body ?? []) state.text += Buffer.from(chunk).toString()
  }
  read()
    .catch(() => {})
    .finally(() => {
      state.ended = true
    })
  const frames = () =>
    state.text.split('\n\n').flatMap((frame) => {
      const event = /^event: (.*)$/m.exec(frame)?.[1]
      return event === undefined ? [] : [{ event, data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? 'null') }]
    })
  await eventually(() => state.text.includes('retry:') || state.status !== 200)
  return { ...state, state, frames, shown: () => frames().map(({ data }) => data.message ?? data.count) }
}

function describeStreams(title: string, begin: () => Promise<Join>): void {
  it(`GET /logs/stream ${title} sends the matching records of all replicas as they are written`, async () => {
    const [first, second, third] = await replicas(await begin())
    const client = await serve(first)
    first.log.warn('before', { operation: 'sync.account' })
    const stream = await follow(client, '?level=warn&operation=sync.*')
    await eventually(() => {
      for (const instance of [first, second, third]) {
        instance.log.warn('wanted', { operation: 'sync.account' })
        instance.log.info('wrong level', { operation: 'sync.account' })
        instance.log.warn('wrong operation', { operation: 'http.request' })
      }
      return new Set(stream.frames().map(({ data }) => data.instance)).size === 3
    })
    expect(new Set(stream.shown())).toEqual(new Set(['wanted']))
  })
}

describeStreams('in one process', async () => {
  const { bus } = network()
  return async () => bus
})
describePostgres('over NOTIFY', (open) => {
  describeStreams('on PostgreSQL', async () => {
    const place = await open.place()
    return async () => opening(openPostgresBus({ url: place.databaseUrl ?? '', db: await open(place), log: silentLog }))
  })
})

describe('GET /logs/stream', () => {
  it('continues after Last-Event-ID, keeps the connection alive, and ends with the service', async () => {
    const instance = replica('ins_1', ['ins_1'], network().bus)
    const client = await serve(instance)
    instance.log.info('first')
    const [entry] = instance.ring.select({}, { limit: 1 }).entries
    instance.log.info('second')
    const stream = await follow(client, '', entry?.id)
    await eventually(() => stream.shown().includes('second'))
    instance.log.info('third')
    await eventually(() => stream.state.text.includes(': keep-alive') && stream.shown().includes('third'))
    expect(stream.shown().filter((text) => /first|second|third/.test(text))).toEqual(['second', 'third'])
    instance.streams.close()
    await eventually(() => stream.state.ended)
    expect((await follow(client)).status).toBe(503)
  })

  it('bounds its clients, and what waits for one that does not read', async () => {
    const instance = replica('ins_1', ['ins_1'], network().bus)
    const stalled = instance.streams.open(buildStart('one'))
    await once(stalled.resume(), 'data')
    stalled.pause()
    const long = 'x'.repeat(5000)
    for (let i = 0; i < 2000; i += 1) instance.log.info(`${i} ${long}`)
    let text = ''
    stalled.on('data', (chunk: Buffer) => {
      text += chunk
    })
    stalled.resume()
    await eventually(() => text.includes('event: dropped') && text.includes('"1999 '))
    expect(Number(/"count":(\d+)/.exec(text)?.[1])).toBeGreaterThanOrEqual(900)
    const others = Array.from({ length: 9 }, () => instance.streams.open(buildStart('one')))
    expect(() => instance.streams.open(buildStart('one'))).toThrow(/with this key: at most 10/)
    others.push(...Array.from({ length: 10 }, () => instance.streams.open(buildStart('two'))))
    expect(() => instance.streams.open(buildStart('three'))).toThrow(/serves 20/)
    for (const stream of [...others, stalled]) stream.destroy()
  })

  it('requires a key, and a known level', async () => {
    const client = await serve(replica('ins_1', ['ins_1'], network().bus))
    expect((await api(client.url).get('/logs/stream')).status).toBe(401)
    expect((await client.get('/logs/stream?level=loud')).status).toBe(400)
  })

  it('does not publish records that no replica follows', async () => {
    const { bus, largest } = network()
    const [first, second] = await replicas(async () => bus)
    second.log.info('x'.repeat(1000))
    expect(largest.bytes).toBe(0)
    const stream = await follow(await serve(first), '?accountId=acc_1')
    largest.bytes = 0
    await eventually(() => {
      second.log.info('other', { accountId: 'acc_2' })
      second.log.info('x'.repeat(9000), { accountId: 'acc_1' })
      return stream.frames().length > 0
    })
    expect(largest.bytes).toBeLessThan(4096)
    expect(stream.frames()[0]?.data.accountId).toBe('acc_1')
  })
})

async function opening(bus: Promise<Bus>): Promise<Bus> {
  return closing(await bus)
}
