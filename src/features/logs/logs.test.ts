import { afterEach, describe, expect, it } from 'vitest'
import { expectForgeriesRefused } from '../../../test/kit/cursors.ts'
import { type Api, api } from '../../../test/kit/http.ts'
import { testServer } from '../../../test/kit/server.ts'
import type { Bus } from '../../infra/bus/index.ts'
import { memoryCache } from '../../infra/cache/index.ts'
import type { App } from '../../infra/http/index.ts'
import { type Log, type LogRing, logger, logRing, redactor } from '../../infra/log/index.ts'
import { fixedClock } from '../../lib/clock.ts'
import { idGenerator } from '../../lib/ids.ts'
import { logRoutes, type SharedLogs, sharedLogs } from './index.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

/** What replicas share; a test may lose the hints of one of them. */
function network(options: { deaf?: string } = {}) {
  const listeners = new Map<string, Set<(payload: string) => void>>()
  const largest = { bytes: 0 }
  const bus: Bus = {
    provider: 'memory',
    publish(topic, payload = '') {
      largest.bytes = Math.max(largest.bytes, Buffer.byteLength(payload))
      if (options.deaf !== undefined && payload.includes(`"from":"${options.deaf}"`)) return
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

function replica(instanceId: string, instances: string[], bus: Bus): Replica {
  const ring = logRing()
  // Each step of the clock is one record: ids are in the order in which the test wrote.
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
  const shared = sharedLogs({ bus, ring, instanceId, instances: async () => instances, waitMs: 50 })
  opened.push(shared)
  return { log, ring, shared }
}

async function serve(of: Replica): Promise<Api> {
  const app: App = testServer()
  logRoutes(app, { logs: of.shared, cache: memoryCache({ clock }) })
  opened.push(app)
  return api(await app.listen({ port: 0, host: '127.0.0.1' }), 'reader')
}

const messages = (answer: { json: { logs: { message: string }[] } }) => answer.json.logs.map((entry) => entry.message)

describe('GET /logs', () => {
  it('lists the newest first, 100 unless told, in the documented shape', async () => {
    const one = replica('ins_1', ['ins_1'], network().bus)
    for (let i = 0; i < 150; i += 1) one.log.info(String(i))
    one.log.warn('slow', { accountId: 'acc_1', provider: 'imap', operation: 'sync.folder', metadata: { n: [1] } })
    const answer = await (await serve(one)).get('/logs')
    expect(answer.json.pagination).toMatchObject({ page: 1, limit: 100, total: 151, totalPages: 2, hasNext: true })
    expect(answer.json.missingInstances).toEqual([])
    expect(answer.json.logs[0]).toEqual({
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

  it('filters exactly and refuses a level that does not exist', async () => {
    const one = replica('ins_1', ['ins_1'], network().bus)
    one.log.warn('w', { accountId: 'acc_1' })
    one.log.error('e', { accountId: 'acc_1' })
    const client = await serve(one)
    expect(messages(await client.get('/logs?level=warn'))).toEqual(['w'])
    expect(messages(await client.get('/logs?accountId=acc_2'))).toEqual([])
    const unknown = await client.get('/logs?level=warning')
    expect(unknown.status).toBe(400)
    expect(unknown.json.error.details).toEqual([
      { path: 'query.level', message: 'must be one of trace, debug, info, warn, error, fatal' },
    ])
    expect((await api(client.url).get('/logs')).status).toBe(401)
  })

  it('goes on at page 2 where page 1 ended, though records keep coming', async () => {
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

describe('the rings of several replicas', () => {
  it('are one list, in hints that fit the bus', async () => {
    const { bus, largest } = network()
    const all = ['ins_1', 'ins_2', 'ins_3']
    const [first, second, third] = all.map((id) => replica(id, all, bus))
    for (let i = 1; i <= 30; i += 1) {
      const writer = [first, second, third][i % 3]
      writer?.log.info(`${i} ${'ü€'.repeat(200)}`)
    }
    if (second === undefined) throw new Error('no replica')
    const client = await serve(second)
    const answer = await client.get('/logs?limit=20')
    expect(messages(answer).map((text) => Number.parseInt(text, 10))).toEqual(
      Array.from({ length: 20 }, (_, i) => 30 - i),
    )
    expect(answer.json.pagination).toMatchObject({ total: 30, hasNext: true })
    const rest = await client.get('/logs?limit=20&page=2')
    expect(messages(rest)).toHaveLength(10)
    expect(new Set(answer.json.logs.map((entry: { instance: string }) => entry.instance)).size).toBe(3)
    expect(largest.bytes).toBeLessThan(4096)
  })

  it('are reduced to this one when the database cannot say who else there is', async () => {
    const { bus } = network()
    const { log, ring } = replica('ins_1', [], bus)
    const instances = () => Promise.reject(new Error('down'))
    const shared = sharedLogs({ bus, ring, instanceId: 'ins_1', instances })
    opened.push(shared)
    log.error('the database is down')
    const answer = await (await serve({ log, ring, shared })).get('/logs')
    expect(messages(answer)).toEqual(['the database is down'])
    expect(answer.json.missingInstances).toEqual(['unknown'])
  })

  it('are merged without the one that does not answer in time, and it is named', async () => {
    const { bus } = network({ deaf: 'ins_2' })
    const all = ['ins_1', 'ins_2', 'ins_3']
    const [first, second, third] = all.map((id) => replica(id, all, bus))
    first?.log.info('a')
    second?.log.info('b')
    third?.log.info('c')
    if (first === undefined) throw new Error('no replica')
    const answer = await (await serve(first)).get('/logs')
    expect(messages(answer)).toEqual(['c', 'a'])
    expect(answer.json.missingInstances).toEqual(['ins_2'])
  })
})
