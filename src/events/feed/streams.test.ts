import type { AddressInfo } from 'node:net'
import type { RootOperationNode } from 'kysely'
import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { recordReads } from '../../../test/kit/database/recorded-statements.ts'
import { type EventListener, listen, streamedEvents } from '../../../test/kit/events/event-listener.ts'
import { type WebhookFixture, webhookFixture } from '../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { random } from '../../../test/kit/random/random.ts'
import { memoryLog } from '../../../test/kit/service/memory-log.ts'
import { memoryBus } from '../../platform/bus/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { eventFeed } from '../index.ts'
import { isSubscription, subscribes } from '../webhooks/index.ts'
import { EventStreams, feedRoutes } from './index.ts'
import type { StreamDeps } from './streams.ts'

const KEY = { authorization: 'Bearer good' }
const OTHER_KEY = { authorization: 'Bearer reader' }
/** Later than the end of any test. */
const NEVER_MS = 1_000_000

describeEachDatabase('event streams', (open) => {
  async function serve(options: Partial<StreamDeps> = {}) {
    const fixture = closing(webhookFixture(await open()))
    const reads: RootOperationNode[] = []
    const streams = new EventStreams({
      db: { read: recordReads(fixture.db.read, reads) },
      bus: fixture.bus,
      log: silentLog,
      heartbeatMs: NEVER_MS,
      pollMs: NEVER_MS,
      ...options,
    })
    const app = testServer()
    feedRoutes(app, { db: fixture.db, streams, catalogue: fixture.catalogue, isSubscription, subscribes })
    await app.listen({ host: '127.0.0.1', port: 0 })
    closing({
      async close() {
        await streams.close()
        await app.close()
      },
    })
    await fixture.engine.start()
    const { port } = app.server.address() as AddressInfo
    return { fixture, streams, reads, url: `http://127.0.0.1:${port}` }
  }

  const stamped = ({ db }: WebhookFixture, position: number) =>
    eventually(async () => expect(await eventFeed(db.read).lastPosition()).toBe(position))

  const large = (count: number) => Array.from({ length: count }, () => ({ data: { snippet: 'x'.repeat(200_000) } }))

  const ids = (client: EventListener) => streamedEvents(client).map(({ id }) => id)

  it('reads an event once, however many streams send it', async () => {
    const { fixture, reads, url } = await serve()
    const clients: EventListener[] = []
    for (let count = 0; count < 40; count += 1) clients.push(await listen(url, KEY))
    for (const client of clients) await eventually(() => expect(client.text).toContain('id: 0'))
    reads.length = 0
    for (let position = 1; position <= 3; position += 1) {
      await fixture.record({})
      for (const client of clients) await eventually(() => expect(ids(client)).toContain(position))
    }
    // Two for each event, and one for a round that finds nothing new.
    expect(reads.length).toBeLessThanOrEqual(12)
    reads.length = 0
    await fixture.record({}, {}, {})
    for (const client of clients) await eventually(() => expect(ids(client)).toEqual([1, 2, 3, 4, 5, 6]))
    expect(reads.length).toBeLessThanOrEqual(4)
  })

  it('sends each stream its events once and in order, whenever it begins and however slowly its client reads', async () => {
    const { fixture, url } = await serve()
    const next = random()
    const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T
    const accounts = ['acc_a', 'acc_b', 'acc_c']
    const types = ['message.received', 'message.sent', 'mailbox.changed'] as const
    const filters = ['', 'message.*', 'message.sent', 'mailbox.changed,message.received']
    const recorded: { position: number; type: string; accountId: string }[] = []
    const opened: { client: EventListener; from: number; type: string; accountId: string | undefined }[] = []
    for (let step = 0; step < 30; step += 1) {
      const batch = Array.from({ length: Math.ceil(next() * 8) }, () => ({
        type: pick(types),
        accountId: pick(accounts),
        data: { subject: 'x'.repeat(Math.floor(next() * 5000)) },
      }))
      await fixture.record(
        ...batch.map(({ type, accountId, data }) => ({
          type,
          accountId,
          ...(type !== 'mailbox.changed' && { data }),
        })),
      )
      for (const { type, accountId } of batch) recorded.push({ position: recorded.length + 1, type, accountId })
      const type = pick(filters)
      const accountId = pick([undefined, ...accounts])
      const from = Math.floor(next() * recorded.length)
      const query = new URLSearchParams({ since: String(from), type, ...(accountId !== undefined && { accountId }) })
      const isPaused = next() < 0.3
      opened.push({ client: await listen(url, KEY, `?${query}`, isPaused), from, type, accountId })
      if (next() < 0.2) pick(opened).client.resume()
    }
    await stamped(fixture, recorded.length)
    for (const { client, from, type, accountId } of opened) {
      client.resume()
      const wanted = recorded.filter(
        (event) =>
          event.position > from &&
          (accountId === undefined || accountId === event.accountId) &&
          (type === '' || subscribes(type.split(','), event.type)),
      )
      await eventually(() => expect(ids(client).length).toBeGreaterThanOrEqual(wanted.length))
      expect(streamedEvents(client).map(({ id, event }) => [id, event])).toEqual(
        wanted.map((event) => [event.position, event.type]),
      )
    }
  })

  it('ends a live stream whose client reads too slowly, with a hint, and the client resumes without a gap', async () => {
    const { log, entries } = memoryLog()
    const { fixture, url } = await serve({ log })
    const fast = await listen(url, KEY)
    const slow = await listen(url, KEY, '', true)
    let count = 0
    // How much the sockets hold depends on the machine.
    while (!entries.some(({ message }) => message.includes('reads too slowly'))) {
      await fixture.record(...large(10))
      count += 10
      await eventually(() => expect(ids(fast)).toHaveLength(count))
    }
    slow.resume()
    await eventually(() => expect(slow.hasEnded).toBe(true))
    expect(slow.text).toMatch(/: This client reads too slowly.*Last-Event-ID.*\nretry: 1000\n\n$/)
    const received = ids(slow)
    expect(received.length).toBeLessThan(count)
    const again = await listen(url, { ...KEY, 'last-event-id': String(received.at(-1)) })
    await eventually(() => expect([...received, ...ids(again)]).toEqual(ids(fast)))
  })

  it('finds events whose hint was lost', async () => {
    const lost = memoryBus({ log: silentLog })
    const { fixture, url } = await serve({ bus: lost, pollMs: 50 })
    const client = await listen(url, KEY)
    await fixture.record({}, {})
    await eventually(() => expect(ids(client)).toEqual([1, 2]))
  })

  it('limits the streams of a key and those of the instance', async () => {
    const { url, streams } = await serve({ maxStreams: 3, maxPerOwner: 2 })
    const [first] = [await listen(url, KEY), await listen(url, KEY)]
    const third = await listen(url, KEY)
    expect(third.response.status).toBe(429)
    expect(await third.response.json()).toMatchObject({
      error: { code: 'rate_limited', message: expect.stringContaining('at most 2') },
    })
    expect((await listen(url, OTHER_KEY)).response.status).toBe(200)
    const fifth = await listen(url, OTHER_KEY)
    expect([fifth.response.status, fifth.response.headers.get('retry-after')]).toEqual([429, '10'])
    first?.leave()
    await eventually(() => expect(streams.size).toBe(2))
    expect((await listen(url, OTHER_KEY)).response.status).toBe(200)
  })

  it('reads nothing while nothing happens', async () => {
    const { reads, url, streams } = await serve({ heartbeatMs: 20 })
    const client = await listen(url, KEY)
    await eventually(() => expect(client.text).toContain(': keep-alive'))
    reads.length = 0
    client.text = ''
    await eventually(() => expect(client.text.split(': keep-alive').length).toBeGreaterThan(10))
    expect([streams.size, reads.length]).toEqual([1, 0])
  })
})
