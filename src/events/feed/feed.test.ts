import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createConnection } from 'node:net'
import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { explain } from '../../../test/kit/database/explain.ts'
import { webhookFixture } from '../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { expectForgeriesRefused } from '../../../test/kit/http/cursors.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { jsonWriter } from '../../platform/formats/json-schema.ts'
import { listSchema } from '../../platform/http/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { eraseEvents, purgeEvents } from '../erase.ts'
import { eventFeed } from '../index.ts'
import { isSubscription, subscribes } from '../webhooks/index.ts'
import { feedEventSchema } from './api.ts'
import { EventStreams, feedRoutes } from './index.ts'

const KEY = { authorization: 'Bearer good' }

describeEachDatabase('the events API', (open) => {
  async function serve(options: { heartbeatMs?: number; stallMs?: number; maxStreams?: number } = {}) {
    const clock = fixedClock(Date.parse('2026-11-20T08:00:00Z'))
    const fixture = closing(webhookFixture(await open(), { clock }))
    const streams = new EventStreams({ db: fixture.db, bus: fixture.bus, log: silentLog, ...options })
    const app = testServer()
    feedRoutes(app, { db: fixture.db, streams, catalogue: fixture.catalogue, isSubscription, subscribes })
    await app.listen({ host: '127.0.0.1', port: 0 })
    closing({
      async close() {
        streams.close()
        await app.close()
      },
    })
    await fixture.engine.start()
    const { port } = app.server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const get = async (query: string) => {
      const response = await fetch(`${url}/events${query}`, { headers: KEY })
      const body: ReturnType<typeof JSON.parse> = await response.json()
      return { status: response.status, body }
    }
    const stamped = (count: number) =>
      eventually(async () => expect((await get('?limit=1')).body.pagination.total).toBe(count))
    return { fixture, streams, clock, url, port, get, stamped }
  }

  /** A client that reads the stream in the background. */
  async function listen(url: string, query = '', headers: Record<string, string> = {}) {
    const abort = new AbortController()
    const response = await fetch(`${url}/events/stream${query}`, {
      headers: { ...KEY, ...headers },
      signal: abort.signal,
    })
    const client = { response, text: '', ended: false, leave: () => abort.abort() }
    closing({ close: async () => abort.abort() })
    if (!response.ok || response.body === null) return client
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    const read = async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) client.text += part.value
    }
    read()
      .catch(() => {})
      .finally(() => {
        client.ended = true
      })
    return client
  }

  const seen = (client: { text: string }) =>
    [...client.text.matchAll(/^id: (\d+)\nevent: (.*)\ndata: (.*)$/gm)].map(([, id, event, data]) => ({
      id: Number(id),
      event,
      data: JSON.parse(data ?? ''),
    }))

  it('lists events newest first, or from a position or time, by type and account, in pages', async () => {
    const { fixture, url, get, clock, stamped } = await serve()
    const [first] = await fixture.record({ accountId: 'acc_a' })
    clock.advance(1000)
    await fixture.record({ accountId: 'acc_b' }, { accountId: 'acc_a', type: 'mailbox.changed' })
    clock.advance(1000)
    await fixture.record({ accountId: 'acc_a', fanOut: false })
    await stamped(4)
    const positions = async (query: string) =>
      (await get(query)).body.events.map((event: { position: number }) => event.position)
    expect(await positions('')).toEqual([4, 3, 2, 1])
    expect(await positions('?order=asc')).toEqual([1, 2, 3, 4])
    expect(await positions('?since=2')).toEqual([3, 4])
    expect(await positions('?since=2&order=desc')).toEqual([4, 3])
    expect(await positions('?since=2026-11-20T09:00:01%2B01:00')).toEqual([2, 3, 4])
    expect(await positions('?since=2027-01-01T00:00:00Z')).toEqual([])
    expect(await positions('?accountId=acc_a')).toEqual([4, 3, 1])
    expect(await positions('?accountId=acc_a&type=mailbox.changed')).toEqual([3])
    expect(await positions('?type=message.received&since=1')).toEqual([2, 4])
    const page = (await get('?limit=3')).body
    expect(page.pagination).toMatchObject({ total: 4, hasNext: true, totalPages: 2 })
    expect(await positions(`?limit=3&cursor=${page.pagination.nextCursor}`)).toEqual([1])
    expect(await positions('?limit=3&page=2')).toEqual([1])
    await expectForgeriesRefused(page.pagination.nextCursor, (query) => get(`?limit=3&${query}`))
    expect(page.events[0]).toMatchObject({ test: true })
    const text = await (await fetch(`${url}/events`, { headers: KEY })).text()
    expect(text).toBe(jsonWriter(listSchema('events', feedEventSchema(fixture.catalogue)))(JSON.parse(text)))
    expect((await get(`/${first}`)).body).toEqual({
      position: 1,
      test: false,
      id: first,
      type: 'message.received',
      timestamp: '2026-11-20T08:00:00.000Z',
      apiVersion: '2026-11-01',
      accountId: 'acc_a',
      provider: 'imap',
      sequence: 1,
      objectId: 'msg_test',
      version: 1,
      data: expect.objectContaining({ id: 'msg_test' }),
    })
  })

  it.each([
    '?since=yesterday',
    '?since=-1',
    '?type=nothing',
    '?order=up',
    '?limit=0',
    '/stream?type=x',
    '/stream?since=x',
  ])('rejects %s', async (query) => {
    const { get } = await serve()
    const { status, body } = await get(query)
    expect([status, body.error.code]).toEqual([400, 'validation_failed'])
  })

  it('requires the key, and returns 404 for an unknown event', async () => {
    const { url, get } = await serve()
    for (const path of ['/events', '/events/stream', '/events/x']) expect((await fetch(url + path)).status).toBe(401)
    expect((await get('/evt_none')).status).toBe(404)
    expect((await fetch(`${url}/events/stream`, { method: 'HEAD', headers: KEY })).status).not.toBe(200)
  })

  it('hides the events of a deleted account, and lowers the count when they are removed', async () => {
    const { fixture, get, stamped, clock } = await serve()
    await fixture.record({}, {}, { accountId: 'acc_gone' })
    await stamped(3)
    await fixture.db.transaction(async (tx) => {
      await fixture.recorder.record(tx, [
        {
          type: 'message.received',
          accountId: 'acc_gone',
          provider: 'imap',
          objectId: 'm',
          version: 1,
          data: {},
        } as never,
      ])
      await tx.insertInto('accountErasures').values({ accountId: 'acc_gone', requestedAt: 1 }).execute()
    })
    await stamped(4)
    expect((await get('')).body.events.map((event: { position: number }) => event.position)).toEqual([3, 2, 1])
    expect(await fixture.db.transaction((tx) => eraseEvents(tx, 'acc_gone', 10))).toBe(2)
    await stamped(2)
    await fixture.db.transaction((tx) => purgeEvents(tx, clock.now() + 1, 1))
    await stamped(1)
  })

  it('streams events as they happen, in order, with headers that keep proxies from buffering', async () => {
    const { fixture, url, stamped } = await serve()
    await fixture.record({})
    await stamped(1)
    const client = await listen(url)
    expect(Object.fromEntries(client.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    await eventually(() => expect(client.text).toBe('retry: 1000\nid: 1\n\n'))
    const ids = await fixture.record({}, { type: 'mailbox.changed' })
    await eventually(() => expect(seen(client)).toHaveLength(2))
    expect(seen(client)).toMatchObject([
      { id: 2, event: 'message.received', data: { id: ids[0], position: 2, test: false } },
      { id: 3, event: 'mailbox.changed', data: { id: ids[1], position: 3 } },
    ])
  })

  it('resumes after Last-Event-ID, a position or a time, without gaps or duplicates', async () => {
    const { fixture, url, clock, stamped } = await serve()
    await fixture.record({}, {})
    clock.advance(1000)
    await fixture.record(...Array.from({ length: 600 }, () => ({})))
    await stamped(602)
    const clients = [
      await listen(url, '', { 'last-event-id': '2' }),
      await listen(url, '?since=500', { 'last-event-id': '2' }),
      await listen(url, '?since=2'),
      await listen(url, '?since=2026-11-20T08:00:01Z'),
    ]
    const expected = Array.from({ length: 600 }, (_, index) => index + 3)
    for (const client of clients) await eventually(() => expect(seen(client).map(({ id }) => id)).toEqual(expected))
  })

  it('streams only the requested events, and a heartbeat carries the position of the stream', async () => {
    const { fixture, url } = await serve({ heartbeatMs: 50 })
    const client = await listen(url, '?type=mailbox.*,message.sent&accountId=acc_a')
    await fixture.record(
      { accountId: 'acc_a' },
      { accountId: 'acc_a', type: 'mailbox.changed' },
      { accountId: 'acc_b', type: 'message.sent' },
    )
    await eventually(() => expect(client.text).toContain(': keep-alive\nid: 3\n\n'))
    expect(seen(client).map(({ event }) => event)).toEqual(['mailbox.changed'])
  })

  it('ends streams when the service stops, and frees a slot when a client disconnects', async () => {
    const { url, streams } = await serve({ maxStreams: 2 })
    const [one, two] = [await listen(url), await listen(url)]
    const refused = await listen(url)
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([429, '10'])
    one.leave()
    await eventually(() => expect(streams.size).toBe(1))
    expect((await listen(url)).response.status).toBe(200)
    streams.close()
    await eventually(() => expect(two.ended).toBe(true))
    expect((await listen(url)).response.status).toBe(503)
  })

  it('disconnects a client that reads nothing, after buffering one batch', async () => {
    const { fixture, port, stamped, streams } = await serve({ stallMs: 500 })
    const text = 'x'.repeat(200_000)
    for (let index = 0; index < 4; index += 1) {
      await fixture.record(...Array.from({ length: 25 }, () => ({ data: { snippet: text } })))
    }
    await stamped(100)
    const socket = createConnection(port, '127.0.0.1')
    socket.on('error', () => {})
    closing({ close: async () => void socket.destroy() })
    const closed = once(socket, 'close')
    socket.write('GET /events/stream?since=0 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer good\r\n\r\n')
    await once(socket, 'readable')
    socket.pause()
    await eventually(() => expect(streams.size).toBe(0))
    socket.resume()
    await closed
    expect(socket.bytesRead).toBeLessThan(100 * text.length)
  })

  it('reads events by indexes', async () => {
    const { fixture } = await serve()
    const page = { from: undefined, offset: 0, limit: 51 }
    const filters = [{}, { type: 'message.sent' }, { accountId: 'a' }, { type: 'message.sent', accountId: 'a' }]
    const plan = await explain(fixture.db, async (tx) => {
      const feed = eventFeed(tx)
      for (const filter of filters) {
        for (const order of ['asc', 'desc'] as const) {
          await feed.list({ ...filter, afterPosition: 5, sinceMs: 1 }, order, page)
          await feed.list(filter, order, { ...page, from: 5 })
        }
        await feed.count({ ...filter, afterPosition: 5 }, 10)
      }
      await feed.heads(5, 10)
      await feed.positionBefore(5)
      await feed.find('evt_1')
    })
    expect(plan).not.toMatch(/SCAN events$|Seq Scan on "?events|TEMP B-TREE/m)
  })
})
