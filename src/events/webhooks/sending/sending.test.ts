import { generate } from 'selfsigned'
import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { type WebhookFixture, webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { type Received, startReceiver } from '../../../../test/servers/receiver.ts'
import type { Db } from '../../../platform/db/index.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import type { DeliveryView } from '../index.ts'

const receiverFor = async () => closing(await startReceiver())

async function startedFixture(db: Db, options = {}): Promise<WebhookFixture> {
  const fixture = closing(webhookFixture(db, options))
  await fixture.engine.start()
  return fixture
}

async function arrived(fixture: WebhookFixture, expected: Partial<DeliveryView>[]): Promise<DeliveryView[]> {
  return eventually(async () => {
    const found = await fixture.deliveries()
    expect(found).toMatchObject(expected)
    return found
  })
}

const gapsMs = (requests: readonly Received[]) =>
  requests.slice(1).map((request, index) => request.atMs - (requests[index]?.atMs ?? 0))

describeEachDatabase('sending deliveries', (open) => {
  it('delivers a recorded event with a signature that the published libraries verify', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    const { secret = '' } = await fixture.create({ url: receiver.url })
    const [eventId = ''] = await fixture.record({})

    const [delivery] = await arrived(fixture, [{ status: 'success', attempt: 1, responseStatus: 204, error: null }])
    const [request] = receiver.requests
    if (request === undefined) throw new Error('nothing came')
    receiver.verify(secret)
    expect(request.headers).toMatchObject({ 'webhook-id': eventId, 'content-type': 'application/json' })
    expect(JSON.parse(request.body)).toEqual(delivery?.payload)
    expect(Object.keys(JSON.parse(request.body)).slice(0, 3)).toEqual(['deliveryId', 'test', 'id'])
    expect(JSON.parse(request.body)).toMatchObject({
      deliveryId: delivery?.id,
      test: false,
      id: eventId,
      type: 'message.received',
      accountId: 'acc_test',
      sequence: 1,
      objectId: 'msg_test',
      version: 1,
      data: { subject: 'Grüße, 東京 & “quotes”' },
    })
  })

  it('retries a failed delivery retryCount times, retryDelayMs apart, with the same body and a fresh signature', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.always({ status: 500, body: 'no\0pe' })
    const { secret = '' } = await fixture.create({ url: receiver.url, retryCount: 2, retryDelayMs: 1100 })
    await fixture.record({})

    const [delivery] = await arrived(fixture, [
      { status: 'failed', attempt: 3, maxAttempts: 3, nextAttemptAt: null, responseStatus: 500, responseBody: 'nope' },
    ])
    expect(delivery?.attempts.map(({ attempt, error }) => [attempt, error?.kind])).toEqual([
      [1, 'http_status'],
      [2, 'http_status'],
      [3, 'http_status'],
    ])
    receiver.verify(secret)
    expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1)
    expect(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size).toBe(1)
    expect(new Set(receiver.requests.map((request) => request.headers['webhook-timestamp'])).size).toBe(3)
    for (const gapMs of gapsMs(receiver.requests)) expect(gapMs).toBeGreaterThan(1090)
  })

  it('waits for Retry-After when it is longer than retryDelayMs', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.script({ status: 503, headers: { 'retry-after': '2' } })
    await fixture.create({ url: receiver.url, retryDelayMs: 10 })
    await fixture.record({})
    await arrived(fixture, [{ status: 'success', attempt: 2 }])
    expect(gapsMs(receiver.requests)[0]).toBeGreaterThan(1990)
  })

  it('counts a timeout, a reset, a redirect and a truncated response as failures, and follows no redirect', async () => {
    const [target, receiver] = [await receiverFor(), await receiverFor()]
    const fixture = await startedFixture(await open())
    receiver.script('hang', 'reset', { status: 302, headers: { location: target.url } }, 'stall', { status: 200 })
    await fixture.create({ url: receiver.url, retryCount: 10, retryDelayMs: 0, timeoutMs: 1500 })
    await fixture.record({})
    const [delivery] = await arrived(fixture, [{ status: 'success', attempt: 5 }])
    expect(delivery?.attempts.map(({ error }) => error?.kind)).toEqual([
      'timeout',
      'reset',
      'redirect',
      'timeout',
      undefined,
    ])
    expect(target.requests).toEqual([])
  })

  it('reads at most 64 KB of a response and stores 16 KB of it', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.script(
      { status: 200, body: 'a'.repeat(40_000) },
      { status: 200, body: 'é'.repeat(1_000_000) },
      { status: 500, body: Buffer.alloc(40_000, 0xff) },
    )
    await fixture.create({ url: receiver.url, retryCount: 0 })
    const expected = [
      { status: 'success', text: 'a'.repeat(16 * 1024) },
      { status: 'success', text: 'é'.repeat(8 * 1024) },
      { status: 'failed', text: '\ufffd'.repeat(Math.floor((16 * 1024) / 3)) },
    ]
    for (const [index, { status, text }] of expected.entries()) {
      await fixture.record({ objectId: `msg_${index}` })
      await eventually(async () => {
        const delivery = (await fixture.deliveries())[index]
        expect(delivery?.status).toBe(status)
        expect(Buffer.byteLength(delivery?.responseBody ?? '')).toBeLessThanOrEqual(16 * 1024)
        expect(delivery?.responseBody?.slice(0, 5000)).toBe(text.slice(0, 5000))
      })
    }
  })

  it('keeps sending new deliveries while one request hangs', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.script('hang')
    await fixture.create({ url: receiver.url, timeoutMs: 60_000 })
    await fixture.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    await fixture.record({ objectId: 'second' })
    await fixture.record({ objectId: 'third' })
    await eventually(() => expect(receiver.requests).toHaveLength(3))
  })

  it('sends at most 32 requests at once to an endpoint, in the order of the events', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.always({ delayMs: 20 })
    await fixture.create({ url: receiver.url })
    const ids = await fixture.record(...Array.from({ length: 100 }, (_, index) => ({ objectId: `msg_${index}` })))
    await eventually(() => expect(receiver.requests).toHaveLength(100))
    expect(receiver.mostOpen).toBeLessThanOrEqual(32)
    receiver.requests.forEach((request, index) => {
      const place = ids.indexOf(String(request.headers['webhook-id']))
      // A request on a new connection may be overtaken by more than its share.
      expect(Math.abs(place - index)).toBeLessThan(64)
    })
  })

  it('sends at most eight requests at once to an endpoint that fails', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.always({ status: 500, delayMs: 20 })
    await fixture.create({ url: receiver.url, retryCount: 0 })
    await fixture.record(...Array.from({ length: 50 }, (_, index) => ({ objectId: `msg_${index}` })))
    await eventually(() => expect(receiver.requests.length).toBeGreaterThanOrEqual(25))
    expect(receiver.mostOpen).toBeLessThanOrEqual(8)
  })

  it('sends each type only to the active endpoints that subscribe to it', async () => {
    const fixture = await startedFixture(await open())
    const hooks = {
      defaults: { receiver: await receiverFor(), body: {} },
      everything: { receiver: await receiverFor(), body: { eventTypes: [] } },
      star: { receiver: await receiverFor(), body: { eventTypes: ['*'] } },
      accounts: { receiver: await receiverFor(), body: { eventTypes: ['account.*', 'message.sent'] } },
      inactive: { receiver: await receiverFor(), body: { eventTypes: ['*'], isActive: false } },
    }
    for (const { receiver, body } of Object.values(hooks)) await fixture.create({ url: receiver.url, ...body })
    await fixture.record(
      { type: 'message.received' },
      { type: 'message.sent' },
      { type: 'mailbox.changed' },
      { type: 'account.paused' },
    )
    const typesAt = ({ receiver }: { receiver: { requests: Received[] } }) =>
      receiver.requests.map((request) => JSON.parse(request.body).type).sort()
    const all = ['account.paused', 'mailbox.changed', 'message.received', 'message.sent']
    await eventually(() => {
      expect(typesAt(hooks.defaults)).toEqual(['mailbox.changed', 'message.received'])
      expect(typesAt(hooks.everything)).toEqual(all)
      expect(typesAt(hooks.star)).toEqual(all)
      expect(typesAt(hooks.accounts)).toEqual(['account.paused', 'message.sent'])
    })
    expect(hooks.inactive.receiver.requests).toEqual([])
    expect(await fixture.deliveries()).toHaveLength(12)
  })

  it('holds waiting deliveries of an inactive endpoint and creates no new ones', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.always({ status: 500 })
    const { id } = await fixture.create({ url: receiver.url, retryDelayMs: 100, retryCount: 20 })
    await fixture.record({})
    await arrived(fixture, [{ status: 'retrying' }])
    await fixture.endpoints.update(id, { isActive: false })
    const before = (await fixture.deliveries()).map(({ attempt }) => attempt)
    await fixture.record({ objectId: 'unheard' })
    await eventually(async () => {
      const unstamped = fixture.db.read.selectFrom('events').select('id').where('position', 'is', null)
      expect(await unstamped.execute()).toEqual([])
    })
    receiver.always({ status: 200 })
    const [delivery, ...others] = await fixture.deliveries()
    expect(others).toEqual([])
    // One request may have been in flight when the endpoint became inactive.
    expect(delivery?.attempt).toBeLessThanOrEqual((before[0] ?? 0) + 1)
    await fixture.endpoints.update(id, { isActive: true })
    await arrived(fixture, [{ status: 'success' }])
  })

  it('releases its claims when the endpoint becomes inactive', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.always({ delayMs: 2000 })
    const { id } = await fixture.create({ url: receiver.url })
    await fixture.record(...Array.from({ length: 60 }, () => ({})))
    await eventually(() => expect(receiver.requests.length).toBeGreaterThan(0))
    await fixture.endpoints.update(id, { isActive: false })
    await eventually(async () => {
      const held = fixture.db.read.selectFrom('webhookDeliveries').select('id').where('lease', 'is not', null)
      expect(await held.execute()).toEqual([])
    })
    expect(receiver.requests.length).toBeLessThan(60)
    expect(await fixture.deliveries({ status: 'pending' })).toHaveLength(60 - receiver.requests.length)
  })

  it('stops without draining a backlog, but lets requests in flight finish', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.always({ delayMs: 2000 })
    await fixture.create({ url: receiver.url })
    await fixture.record(...Array.from({ length: 60 }, () => ({})))
    await eventually(() => expect(receiver.requests).toHaveLength(8))
    await fixture.engine.stop(20_000)
    expect(receiver.requests).toHaveLength(8)
    expect(await fixture.deliveries({ status: 'success' })).toHaveLength(8)
  })

  it('deactivates the endpoint on a 410 and notifies the other endpoints', async () => {
    const [gone, other] = [await receiverFor(), await receiverFor()]
    const fixture = await startedFixture(await open())
    gone.always({ status: 410 })
    const { id } = await fixture.create({ url: gone.url })
    await fixture.create({ url: other.url, eventTypes: ['webhook.*'] })
    await fixture.record({})
    await eventually(() => expect(other.requests).toHaveLength(1))
    expect(JSON.parse(other.requests[0]?.body ?? '')).toMatchObject({
      type: 'webhook.endpoint_disabled',
      objectId: id,
      data: { endpointId: id, reason: 'gone' },
    })
    expect(await fixture.endpoints.get(id)).toMatchObject({ isActive: false })
    expect((await fixture.deliveries({ endpointId: id }))[0]).toMatchObject({ status: 'failed', attempt: 1 })
    expect(gone.requests).toHaveLength(1)
  })

  it('cancels the waiting deliveries of a deleted endpoint', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    receiver.always({ status: 500 })
    const { id } = await fixture.create({ url: receiver.url, retryDelayMs: 60_000 })
    await fixture.record({})
    await arrived(fixture, [{ status: 'retrying' }])
    await fixture.endpoints.delete(id)
    await arrived(fixture, [{ status: 'cancelled', nextAttemptAt: null, attempt: 1 }])
  })

  it('signs with both secrets for a day after a rotation', async () => {
    const receiver = await receiverFor()
    const clock = fixedClock(Date.now())
    const fixture = await startedFixture(await open(), { clock })
    const { id, secret: first = '' } = await fixture.create({ url: receiver.url })
    const second = 'a text of our own'
    await fixture.endpoints.update(id, { secret: second })
    await fixture.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    receiver.verify(first)
    receiver.verify(second)

    clock.advance(24 * 60 * 60_000)
    await fixture.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(2))
    expect(receiver.requests[1]?.headers['webhook-signature']?.toString().split(' ')).toHaveLength(1)

    await fixture.endpoints.update(id, { secret: null })
    await fixture.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(3))
    expect(receiver.requests[2]?.headers['webhook-signature']).toBeUndefined()
    const seen = await fixture.deliveries()
    expect(seen.map(({ requestHeaders }) => requestHeaders['webhook-signature'])).toEqual([
      'v1,*** v1,***',
      'v1,***',
      undefined,
    ])
  })

  it('sends the custom headers and never shows their values', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    const { id } = await fixture.create({
      url: receiver.url,
      headers: { 'X-Token': 's3cret', 'content-type': 'text/json' },
    })
    await fixture.record({})
    const [delivery] = await arrived(fixture, [{ status: 'success' }])
    expect(receiver.requests[0]?.headers).toMatchObject({ 'x-token': 's3cret', 'content-type': 'text/json' })
    expect(delivery?.requestHeaders).toMatchObject({ 'x-token': '***', 'content-type': '***' })
    const rows = await fixture.db.read.selectFrom('webhookEndpoints').selectAll().execute()
    expect(JSON.stringify([delivery, rows, await fixture.endpoints.get(id)])).not.toContain('s3cret')
  })

  it('delivers an event of the maximum size unchanged', async () => {
    const receiver = await receiverFor()
    const fixture = await startedFixture(await open())
    const { secret = '' } = await fixture.create({ url: receiver.url })
    const body = { text: '€'.repeat(86_500), html: null }
    await fixture.record({ data: { body } })
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    receiver.verify(secret)
    expect(JSON.parse(receiver.requests[0]?.body ?? '').data).toMatchObject({ body })
  })

  it('sends over TLS only to servers with a trusted certificate', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'hooks.example.com' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'hooks.example.com' }] }],
    })
    const receiver = closing(await startReceiver({ tls: { key, cert } }))
    const url = receiver.url.replace('127.0.0.1', 'hooks.example.com')
    const trusting = await startedFixture(await open(), { ca: cert })
    await trusting.create({ url, retryCount: 0 })
    await trusting.create({ url: receiver.url, retryCount: 0 })
    await trusting.record({})
    const seen = await eventually(async () => {
      const found = await trusting.deliveries()
      expect(found.map(({ status }) => status).sort()).toEqual(['failed', 'success'])
      return found
    })
    expect(seen.find(({ status }) => status === 'success')?.url).toBe(url)
    expect(seen.find(({ status }) => status === 'failed')?.error?.kind).toBe('tls')
    expect(receiver.requests).toHaveLength(1)
  })

  it('sends aborted deliveries again after the next start, under the same ids', async () => {
    const receiver = await receiverFor()
    const db = await open()
    const first = await startedFixture(db)
    receiver.script('hang')
    await first.create({ url: receiver.url, timeoutMs: 60_000 })
    await first.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    await first.close()
    const second = await startedFixture(db)
    await arrived(second, [{ status: 'success', attempt: 1 }])
    const [cut, whole] = receiver.requests
    expect(whole?.body).toBe(cut?.body)
    expect(whole?.headers['webhook-id']).toBe(cut?.headers['webhook-id'])
  })
})
