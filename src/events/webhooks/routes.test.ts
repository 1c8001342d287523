import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { sampleEvent } from '../../../test/kit/events/events.ts'
import { webhookFixture } from '../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { expectForgeriesRefused } from '../../../test/kit/http/cursors.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { startReceiver } from '../../../test/servers/receiver.ts'
import { idempotency } from '../../operations/idempotency/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import { deliveryRoutes, endpointRoutes, type ReadMessage, testRoutes } from './index.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Finds one message only. */
const readMessage: ReadMessage = async (accountId, messageId) => {
  if (accountId !== 'acc_1') throw notFound('account', accountId)
  if (messageId !== 'msg_1') throw notFound('message', messageId)
  const { data } = sampleEvent('message.received')
  return { accountId, provider: 'imap', objectId: messageId, version: 3, data: { ...data, subject: 'Hello' } }
}

const ROUTES: [Method, string][] = [
  ['GET', '/webhooks/endpoints'],
  ['POST', '/webhooks/endpoints'],
  ['GET', '/webhooks/endpoints/x'],
  ['PUT', '/webhooks/endpoints/x'],
  ['DELETE', '/webhooks/endpoints/x'],
  ['POST', '/webhooks/endpoints/x/test'],
  ['POST', '/webhooks/endpoints/x/recover'],
  ['POST', '/webhooks/test-message'],
  ['POST', '/webhooks/test-event'],
  ['GET', '/webhooks/deliveries'],
  ['GET', '/webhooks/deliveries/x'],
  ['POST', '/webhooks/deliveries/x/retry'],
  ['POST', '/events/x/resend'],
]

const BAD_INPUT: [path: string, wrong: Record<string, unknown>][] = [
  ['url', { url: undefined }],
  ['url', { url: 'not a url' }],
  ['url', { url: 'ftp://127.0.0.1/x' }],
  ['url', { url: 'https://user:pass@127.0.0.1/x' }],
  ['url', { url: 'https://10.0.0.1/x' }],
  ['url', { url: 'http://not-there-yet.invalid/x' }],
  ['id', { id: 'with space' }],
  ['id', { id: 'x'.repeat(65) }],
  ['secret', { secret: '' }],
  ['secret', { secret: 'whsec_not*base64' }],
  ['eventTypes.1', { eventTypes: ['message.received', 'message.unknown'] }],
  ['eventTypes.0', { eventTypes: ['nothing.*'] }],
  ['eventTypes', { eventTypes: 'message.received' }],
  ['headers.Host', { headers: { Host: 'x' } }],
  ['headers.content-length', { headers: { 'content-length': '1' } }],
  ['headers.Webhook-Id', { headers: { 'Webhook-Id': 'x' } }],
  ['headers.Connection', { headers: { Connection: 'close' } }],
  ['headers.a b', { headers: { 'a b': 'x' } }],
  ['headers.x-bad', { headers: { 'x-bad': 'line\r\nbreak' } }],
  ['headers.x-masked', { headers: { 'x-masked': '***' } }],
  ['retryCount', { retryCount: 21 }],
  ['retryCount', { retryCount: -1 }],
  ['retryCount', { retryCount: 20.5 }],
  ['retryCount', { retryCount: '1' }],
  ['retryDelayMs', { retryDelayMs: 86_400_001 }],
  ['timeoutMs', { timeoutMs: 99 }],
  ['timeoutMs', { timeoutMs: 60_001 }],
  ['isActive', { isActive: 'yes' }],
  ['retryStrategy', { retryStrategy: 'sometimes' }],
]

describeEachDatabase('the webhooks API', (open) => {
  async function serve() {
    const db = await open()
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(db, { readMessage }))
    const idem = idempotency({ db, clock: fixture.clock, sealer: fixture.sealer })
    const app = testServer({ idempotency: idem })
    closing({ close: () => app.close() })
    endpointRoutes(app, { endpoints: fixture.endpoints, idempotency: idem })
    deliveryRoutes(app, { ...fixture, idempotency: idem })
    testRoutes(app, { ...fixture, idempotency: idem })
    const call = async (method: Method, url: string, payload?: object, headers: Record<string, string> = {}) => {
      const sent = { authorization: 'Bearer good', ...headers }
      const response = await app.inject({ method, url, headers: sent, ...(payload && { payload }) })
      return { status: response.statusCode, body: response.json(), headers: response.headers }
    }
    return { call, fixture, receiver }
  }

  it('creates an endpoint with the defaults and returns its secret once', async () => {
    const { call, receiver } = await serve()
    const { status, body } = await call('POST', '/webhooks/endpoints', { url: receiver.url })
    expect(status).toBe(201)
    const shown = {
      id: expect.stringMatching(/^whe_/),
      url: receiver.url,
      hasSecret: true,
      eventTypes: ['message.received', 'mailbox.changed'],
      headers: {},
      isActive: true,
      retryCount: 3,
      retryDelayMs: 1000,
      retryStrategy: 'fixed',
      timeoutMs: 30_000,
      lastDeliveryAt: null,
      circuit: { state: 'closed', openedAt: null, nextProbeAt: null, failures: 0 },
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    }
    expect(body).toEqual({ ...shown, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/) })
    expect((await call('GET', `/webhooks/endpoints/${body.id}`)).body).toEqual(shown)
    expect((await call('GET', '/webhooks/endpoints')).body).toEqual({
      endpoints: [shown],
      pagination: { page: 1, limit: 50, total: 1, totalPages: 1, hasNext: false, hasPrev: false },
    })
  })

  it('accepts fractions of its numbers and rounds them', async () => {
    const { call } = await serve()
    const settings = { retryCount: 2.5, retryDelayMs: 0.6, timeoutMs: 100.4 }
    const rounded = { retryCount: 2, retryDelayMs: 1, timeoutMs: 100 }
    const created = await call('POST', '/webhooks/endpoints', { id: 'x', url: 'https://hook.invalid/', ...settings })
    expect([created.status, created.body]).toMatchObject([201, rounded])
    await call('PUT', '/webhooks/endpoints/x', { retryCount: 0, retryDelayMs: 0, timeoutMs: 200 })
    expect((await call('PUT', '/webhooks/endpoints/x', settings)).body).toMatchObject(rounded)
  })

  it('accepts an endpoint id if a client can put it into a path', async () => {
    const { call } = await serve()
    const create = (id: string) => call('POST', '/webhooks/endpoints', { id, url: 'https://hook.invalid/' })
    for (const id of ['.', '..']) expect((await create(id)).body.error.details[0].path).toBe('body.id')
    for (const id of ['...', '.a', 'a.', '-', '..-']) expect((await create(id)).status).toBe(201)
    expect((await call('PUT', '/webhooks/endpoints/...', {})).body).toMatchObject({ id: '...' })
  })

  it('accepts a custom endpoint id and drops duplicate event types', async () => {
    const { call } = await serve()
    const settings = {
      id: 'My.hook_1-a',
      url: 'https://not-there-yet.invalid/hook?a=b',
      secret: null,
      eventTypes: ['message.*', 'booking.created', 'message.*', '*'],
      headers: { 'X-Api-Key': 'k', Authorization: 'Basic abc' },
      isActive: false,
      retryCount: 0,
      retryDelayMs: 86_400_000,
      retryStrategy: 'exponential',
      timeoutMs: 100,
    }
    const { status, body } = await call('POST', '/webhooks/endpoints', settings)
    expect([status, body]).toMatchObject([
      201,
      {
        id: settings.id,
        url: settings.url,
        isActive: false,
        retryCount: 0,
        retryDelayMs: 86_400_000,
        retryStrategy: 'exponential',
        timeoutMs: 100,
        hasSecret: false,
        eventTypes: ['message.*', 'booking.created', '*'],
        headers: { 'X-Api-Key': '***', Authorization: '***' },
      },
    ])
    const again = await call('POST', '/webhooks/endpoints', settings)
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  })

  it('rejects bad input with one detail per invalid field', async () => {
    const { call, receiver } = await serve()
    for (const [path, wrong] of BAD_INPUT) {
      const { status, body } = await call('POST', '/webhooks/endpoints', { url: receiver.url, ...wrong })
      expect([status, body.error?.details?.[0]?.path]).toEqual([400, `body.${path}`])
    }
  })

  it('names the setting when an address is refused', async () => {
    const { call } = await serve()
    const { body } = await call('POST', '/webhooks/endpoints', { url: 'https://10.0.0.1/x' })
    expect(body.error.details[0].message).toContain('PRIVATE_TARGETS')
  })

  it('updates only the given fields; a client can write back what it read', async () => {
    const { call, receiver, fixture } = await serve()
    const created = await call('POST', '/webhooks/endpoints', {
      url: receiver.url,
      headers: { 'X-A': '1', 'X-B': '2' },
    })
    const path = `/webhooks/endpoints/${created.body.id}`
    const { secret: _secret, ...unchanged } = created.body
    expect((await call('PUT', path)).body).toEqual({ ...unchanged, updatedAt: expect.any(String) })
    const { body } = await call('PUT', path, { ...unchanged, retryCount: 7, headers: { 'X-A': '***', 'X-C': '3' } })
    expect(body).toMatchObject({ retryCount: 7, headers: { 'X-A': '***', 'X-C': '***' }, hasSecret: true })
    expect(body.headers).not.toHaveProperty('X-B')
    await fixture.engine.start()
    await fixture.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    expect(receiver.requests[0]?.headers).toMatchObject({ 'x-a': '1', 'x-c': '3' })
    expect((await call('PUT', path, { headers: null, secret: null })).body).toMatchObject({
      headers: {},
      hasSecret: false,
    })
    const bad = await call('PUT', path, { timeoutMs: 1, url: 'x' })
    expect([bad.status, bad.body.error.details.map((detail: { path: string }) => detail.path)]).toEqual([
      400,
      ['body.timeoutMs'],
    ])
    expect((await call('PUT', '/webhooks/endpoints/whe_none', {})).status).toBe(404)
  })

  it('deletes an endpoint and frees its id', async () => {
    const { call, receiver } = await serve()
    await call('POST', '/webhooks/endpoints', { url: receiver.url, id: 'mine' })
    expect((await call('DELETE', '/webhooks/endpoints/mine')).body).toEqual({
      success: true,
      message: expect.any(String),
    })
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      expect((await call(method, '/webhooks/endpoints/mine')).status).toBe(404)
    }
    expect((await call('POST', '/webhooks/endpoints', { url: receiver.url, id: 'mine' })).status).toBe(201)
  })

  it('pages the list of endpoints', async () => {
    const { call, receiver } = await serve()
    for (const id of ['a', 'b', 'c']) await call('POST', '/webhooks/endpoints', { url: receiver.url, id })
    const first = await call('GET', '/webhooks/endpoints?limit=2')
    expect(first.body.pagination).toMatchObject({ total: 3, totalPages: 2, hasNext: true })
    const cursor = encodeURIComponent(first.body.pagination.nextCursor)
    const second = await call('GET', `/webhooks/endpoints?limit=2&cursor=${cursor}`)
    expect(second.body.endpoints.map((endpoint: { id: string }) => endpoint.id)).toEqual(['c'])
    await expectForgeriesRefused(cursor, (query) => call('GET', `/webhooks/endpoints?limit=2&${query}`))
    expect((await call('GET', '/webhooks/endpoints?page=0')).status).toBe(400)
  })

  it('creates one endpoint for a repeated Idempotency-Key and returns the same secret', async () => {
    const { call, receiver } = await serve()
    const headers = { 'idempotency-key': 'once' }
    const first = await call('POST', '/webhooks/endpoints', { url: receiver.url }, headers)
    const second = await call('POST', '/webhooks/endpoints', { url: receiver.url }, headers)
    expect([second.status, second.headers['idempotent-replayed']]).toEqual([201, 'true'])
    expect(second.body).toEqual(first.body)
    expect((await call('GET', '/webhooks/endpoints')).body.endpoints).toHaveLength(1)
  })

  it('tests an endpoint with one immediate attempt, also an inactive one, and returns the delivery', async () => {
    const { call, receiver } = await serve()
    const created = await call('POST', '/webhooks/endpoints', { url: receiver.url, isActive: false })
    const { status, body } = await call('POST', `/webhooks/endpoints/${created.body.id}/test`)
    expect([status, body]).toMatchObject([
      200,
      { status: 'success', trigger: 'test', test: true, eventType: 'webhook.test', attempt: 1, maxAttempts: 1 },
    ])
    receiver.verify(created.body.secret)
    expect(JSON.parse(receiver.requests[0]?.body ?? '')).toEqual(body.payload)
    expect(body.payload).toMatchObject({ deliveryId: body.id, test: true, type: 'webhook.test' })

    receiver.always({ status: 500, body: 'broken' })
    const failed = await call('POST', `/webhooks/endpoints/${created.body.id}/test`)
    expect(failed.body).toMatchObject({
      status: 'failed',
      responseStatus: 500,
      responseBody: 'broken',
      nextAttemptAt: null,
    })
    expect(receiver.requests).toHaveLength(2)
    expect((await call('POST', '/webhooks/endpoints/whe_none/test')).status).toBe(404)
  })

  it('stops the service although a test delivery hangs', async () => {
    const { call, receiver, fixture } = await serve()
    receiver.always('hang')
    const created = await call('POST', '/webhooks/endpoints', { url: receiver.url })
    const test = call('POST', `/webhooks/endpoints/${created.body.id}/test`)
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    await fixture.testDeliveries.stop(50)
    expect((await test).body.error.code).toBe('not_ready')
  })

  it('never fans out a test event', async () => {
    const { call, receiver, fixture } = await serve()
    const created = await call('POST', '/webhooks/endpoints', { url: receiver.url, eventTypes: ['*'] })
    await fixture.engine.start()
    await call('POST', `/webhooks/endpoints/${created.body.id}/test`)
    await fixture.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(2))
    expect((await call('GET', '/webhooks/deliveries')).body.pagination.total).toBe(2)
  })

  it('sends a stored message to every active endpoint subscribed to message.received', async () => {
    const { call, receiver } = await serve()
    await call('POST', '/webhooks/endpoints', { url: `${receiver.url}/a`, id: 'a' })
    await call('POST', '/webhooks/endpoints', { url: `${receiver.url}/b`, id: 'b', eventTypes: ['message.*'] })
    await call('POST', '/webhooks/endpoints', { url: `${receiver.url}/c`, id: 'c', isActive: false })
    await call('POST', '/webhooks/endpoints', { url: `${receiver.url}/d`, id: 'd', eventTypes: ['mailbox.changed'] })
    const { status, body } = await call('POST', '/webhooks/test-message', { accountId: 'acc_1', messageId: 'msg_1' })
    expect([status, body]).toMatchObject([
      200,
      {
        success: true,
        deliveries: [
          { endpointId: 'a', status: 'success', test: true, trigger: 'test-message', accountId: 'acc_1' },
          { endpointId: 'b', status: 'success', test: true, eventType: 'message.received' },
        ],
      },
    ])
    expect(receiver.requests.map((request) => request.path).sort()).toEqual(['/hook/a', '/hook/b'])
    expect(JSON.parse(receiver.requests[0]?.body ?? '')).toMatchObject({ test: true, data: { subject: 'Hello' } })
    const wrong = { accountId: 'acc_1', messageId: 'msg_2' }
    expect((await call('POST', '/webhooks/test-message', wrong)).status).toBe(404)
    expect((await call('POST', '/webhooks/test-message', { accountId: 'acc_2', messageId: 'msg_1' })).status).toBe(404)
    expect((await call('POST', '/webhooks/test-message', { accountId: '' })).status).toBe(400)
  })

  it('lists deliveries newest first, with filters and cursors', async () => {
    const { call, receiver, fixture } = await serve()
    receiver.script({ status: 500 })
    const options = { url: receiver.url, retryCount: 0 }
    await call('POST', '/webhooks/endpoints', { ...options, id: 'all', eventTypes: ['*'] })
    await fixture.engine.start()
    await fixture.record({ type: 'message.sent', accountId: 'acc_b' })
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    await fixture.record(
      { accountId: 'acc_a' },
      { accountId: 'acc_a' },
      { type: 'mailbox.changed', accountId: 'acc_b' },
    )
    await eventually(async () => {
      const { body } = await call('GET', '/webhooks/deliveries?status=success')
      expect(body.pagination.total).toBe(3)
    })
    const types = async (query: string) => {
      const { body } = await call('GET', `/webhooks/deliveries?${query}`)
      return body.deliveries.map((delivery: { eventType: string }) => delivery.eventType)
    }
    const newestFirst = ['mailbox.changed', 'message.received', 'message.received', 'message.sent']
    expect(await types('')).toEqual(newestFirst)
    expect(await types('endpointId=all')).toEqual(newestFirst)
    expect(await types('endpointId=other')).toEqual([])
    expect(await types('accountId=acc_b')).toEqual(['mailbox.changed', 'message.sent'])
    expect(await types('status=failed')).toEqual(['message.sent'])
    expect(await types('eventType=message.received&accountId=acc_a&status=success')).toHaveLength(2)
    const first = await call('GET', '/webhooks/deliveries?limit=3&endpointId=all')
    expect(first.body.pagination).toMatchObject({ total: 4, hasNext: true })
    const cursor = encodeURIComponent(first.body.pagination.nextCursor)
    expect(await types(`limit=3&endpointId=all&cursor=${cursor}`)).toEqual(['message.sent'])
    expect(await types('limit=3&page=2')).toEqual(['message.sent'])
    await expectForgeriesRefused(cursor, (query) => call('GET', `/webhooks/deliveries?limit=3&endpointId=all&${query}`))
    expect((await call('GET', `/webhooks/deliveries?cursor=${cursor}`)).body.error.code).toBe('invalid_cursor')
    expect((await call('GET', '/webhooks/deliveries?status=lost')).status).toBe(400)
    expect((await call('GET', '/webhooks/deliveries?limit=0')).status).toBe(400)
  })

  it('sends a sample event to the endpoints subscribed to its type, if any', async () => {
    const { call, receiver } = await serve()
    const nobody = await call('POST', '/webhooks/test-message', { accountId: 'acc_1', messageId: 'msg_1' })
    expect(nobody).toMatchObject({ status: 200, body: { success: true, deliveries: [] } })
    const trigger = (type: string) => call('POST', '/webhooks/test-event', { type })
    expect(await trigger('account.connected')).toMatchObject({ status: 200, body: { deliveries: [] } })
    await call('POST', '/webhooks/endpoints', { url: receiver.url, eventTypes: ['account.*'] })
    const { body } = await trigger('account.connected')
    expect(body).toMatchObject({
      success: true,
      deliveries: [{ status: 'success', eventId: body.eventId, eventType: 'account.connected', test: true }],
    })
    expect((await call('GET', `/webhooks/deliveries?eventId=${body.eventId}`)).body.deliveries).toHaveLength(1)
    expect((await trigger('account.exploded')).body.error.details[0].path).toBe('body.type')
  })

  it('recovers a time range and rejects an empty one', async () => {
    const { call, receiver, fixture } = await serve()
    await fixture.engine.start()
    await fixture.record({})
    await eventually(async () =>
      expect(await fixture.db.read.selectFrom('events').select('position').execute()).toEqual([{ position: 1 }]),
    )
    await call('POST', '/webhooks/endpoints', { url: receiver.url, id: 'late' })
    const recover = (body: object) => call('POST', '/webhooks/endpoints/late/recover', body)
    expect(await recover({ since: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00+01:00' })).toMatchObject({
      status: 200,
      body: { success: true, recovered: 0, complete: true },
    })
    expect((await recover({ since: '2020-01-01T00:00:00Z' })).body).toEqual({
      success: true,
      recovered: 1,
      complete: true,
    })
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    for (const [path, wrong] of [
      ['since', {}],
      ['since', { since: 'yesterday' }],
      ['until', { since: '2020-01-01T00:00:00Z', until: '2020-01-01' }],
      ['until', { since: '2020-01-02T00:00:00Z', until: '2020-01-01T00:00:00Z' }],
    ] as const) {
      const { status, body } = await recover(wrong)
      expect([status, body.error.details[0].path]).toEqual([400, `body.${path}`])
    }
    expect((await call('POST', '/webhooks/endpoints/none/recover', { since: '2020-01-01T00:00:00Z' })).status).toBe(404)
  })

  it('returns a complete delivery', async () => {
    const { call, receiver, fixture } = await serve()
    receiver.script({ status: 418, body: 'teapot' }, { status: 201, body: 'thanks' })
    await call('POST', '/webhooks/endpoints', {
      url: receiver.url,
      id: 'one',
      retryDelayMs: 0,
      headers: { 'X-A': '1' },
    })
    await fixture.engine.start()
    const [eventId] = await fixture.record({})
    const { id } = await eventually(async () => {
      const { body } = await call('GET', '/webhooks/deliveries')
      expect(body.deliveries[0]?.status).toBe('success')
      return body.deliveries[0]
    })
    const time = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/)
    const attempt = { startedAt: time, durationMs: expect.any(Number) }
    const { body } = await call('GET', `/webhooks/deliveries/${id}`)
    expect(body).toEqual({
      id,
      endpointId: 'one',
      eventId,
      eventType: 'message.received',
      accountId: 'acc_test',
      status: 'success',
      trigger: 'event',
      test: false,
      attempt: 2,
      maxAttempts: 4,
      url: receiver.url,
      payload: JSON.parse(receiver.requests[0]?.body ?? ''),
      requestHeaders: {
        'content-type': 'application/json',
        'user-agent': expect.stringContaining('Posthorn'),
        'webhook-id': eventId,
        'webhook-timestamp': receiver.requests[1]?.headers['webhook-timestamp'],
        'webhook-signature': 'v1,***',
        'x-a': '***',
      },
      responseStatus: 201,
      responseBody: 'thanks',
      error: null,
      durationMs: expect.any(Number),
      createdAt: time,
      lastAttemptAt: time,
      nextAttemptAt: null,
      deliveredAt: time,
      attempts: [
        {
          attempt: 1,
          ...attempt,
          responseStatus: 418,
          responseBody: 'teapot',
          error: { kind: 'http_status', message: 'The endpoint returned 418.' },
        },
        { attempt: 2, ...attempt, responseStatus: 201, responseBody: 'thanks', error: null },
      ],
    })
    expect((await call('GET', '/webhooks/deliveries/dlv_none')).status).toBe(404)
    expect((await call('GET', '/webhooks/endpoints/one')).body.lastDeliveryAt).toEqual(time)
  })

  it('retries a delivery on request with the same ids, the same body and a valid signature', async () => {
    const { call, receiver, fixture } = await serve()
    receiver.script({ status: 500 })
    const created = await call('POST', '/webhooks/endpoints', { url: receiver.url, retryCount: 0 })
    await fixture.engine.start()
    await fixture.record({})
    const failed = await eventually(async () => {
      const { body } = await call('GET', '/webhooks/deliveries?status=failed')
      expect(body.deliveries).toHaveLength(1)
      return body.deliveries[0]
    })
    for (const attempt of [2, 3]) {
      const { status, body } = await call('POST', `/webhooks/deliveries/${failed.id}/retry`)
      expect([status, body]).toMatchObject([200, { id: failed.id, status: 'pending', trigger: 'retry' }])
      await eventually(async () => {
        const after = await call('GET', `/webhooks/deliveries/${failed.id}`)
        expect(after.body).toMatchObject({ status: 'success', attempt, maxAttempts: attempt })
      })
    }
    receiver.verify(created.body.secret)
    expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1)
    await call('DELETE', `/webhooks/endpoints/${created.body.id}`)
    expect((await call('POST', `/webhooks/deliveries/${failed.id}/retry`)).status).toBe(409)
    expect((await call('POST', '/webhooks/deliveries/dlv_none/retry')).status).toBe(404)
  })

  it('requires the key on every route, and write access for changes', async () => {
    const { call } = await serve()
    for (const [method, path] of ROUTES) {
      expect((await call(method, path, undefined, { authorization: 'Bearer wrong' })).status).toBe(401)
      const reading = await call(method, path, undefined, { authorization: 'Bearer reader' })
      expect(reading.status === 403).toBe(method !== 'GET')
    }
  })
})
