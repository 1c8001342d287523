import { afterEach, describe, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { expectForgeriesRefused } from '../../../test/kit/cursors.ts'
import { describePostgres } from '../../../test/kit/database.ts'
import { type Api, api } from '../../../test/kit/http.ts'
import { describeRedis } from '../../../test/kit/redis.ts'
import { testServer } from '../../../test/kit/server.ts'
import { type Bus, openPostgresBus, openRedisBus } from '../../infra/bus/index.ts'
import { memoryCache } from '../../infra/cache/index.ts'
import type { App } from '../../infra/http/index.ts'
import { type Log, type LogRing, logger, logRing, redactor, silentLog } from '../../infra/log/index.ts'
import { fixedClock } from '../../lib/clock.ts'
import { idGenerator } from '../../lib/ids.ts'
import { logRoutes, type SharedLogs, sharedLogs } from './index.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
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
      const known = listeners.get(topic) ?? new Set()
      listeners.set(topic, known.add(listener))
      return () => void known.delete(listener)
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
  opened.push(shared)
  return { log, ring, shared }
}

async function serve(of: Replica): Promise<Api> {
  const app: App = testServer()
  logRoutes(app, { logs: of.shared, cache: memoryCache({ clock }) })
  opened.push(app)
  return api(await app.listen({ port: 0, host: '127.0.0.1' }), 'reader')
}

const messages = (response: { json: { logs: { message: string }[] } }) =>
  response.json.logs.map((entry) => entry.message)

describe('GET /logs', () => {
  it('lists the newest first, 100 by default, in the documented shape', async () => {
    const one = replica('ins_1', ['ins_1'], network().bus)
    for (let i = 0; i < 150; i += 1) one.log.info(String(i))
    one.log.warn('slow', { accountId: 'acc_1', provider: 'imap', operation: 'sync.folder', metadata: { n: [1] } })
    const response = await (await serve(one)).get('/logs')
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
    const one = replica('ins_1', ['ins_1'], network().bus)
    one.log.warn('w', { accountId: 'acc_1' })
    one.log.error('e', { accountId: 'acc_1' })
    const client = await serve(one)
    expect(messages(await client.get('/logs?level=warn'))).toEqual(['w'])
    expect(messages(await client.get('/logs?accountId=acc_2'))).toEqual([])
    const unknown = await client.get('/logs?level=warning')
    expect(unknown.status).toBe(400)
    expect(unknown.json.error.details).toEqual([
      { path: 'query.level', message: 'must be one of: trace, debug, info, warn, error, fatal' },
    ])
    expect((await api(client.url).get('/logs')).status).toBe(401)
  })

  it('continues on page 2 where page 1 ended although new records arrive', async () => {
    const one = replica('ins_1', ['ins_1'], network().bus)
    for (let i = 1; i <= 10; i += 1) one.log.info(String(i))
    const client = await serve(one)
    expect(messages(await client.get('/logs?limit=4'))).toEqual(['10', '9', '8', '7'])
    one.log.info('11')
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
      for (const one of [first, second, third]) one.log.info('i')
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
    const { log, ring } = replica('ins_1', [], bus)
    const instances = () => Promise.reject(new Error('down'))
    const shared = sharedLogs({ bus, ring, instanceId: 'ins_1', instances })
    opened.push(shared)
    log.error('the database is down')
    const response = await (await serve({ log, ring, shared })).get('/logs')
    expect(messages(response)).toEqual(['the database is down'])
    expect(response.json.missingInstances).toEqual(['unknown'])
  })
})

async function opening(bus: Promise<Bus>): Promise<Bus> {
  return closing(await bus)
}
