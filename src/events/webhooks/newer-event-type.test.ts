import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { webhookFixture } from '../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { startReceiver } from '../../../test/servers/receiver.ts'
import { idempotency } from '../../operations/idempotency/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { EventStreams, feedRoutes } from '../feed/index.ts'
import { deliveryRoutes, endpointRoutes, isSubscription, subscribes, testRoutes } from './index.ts'

const KEY = { authorization: 'Bearer good' }
const NEWER = { type: 'message.teleported', data: { to: 'the future', id: 'msg_1' } }

describeEachDatabase('an event of a type that only a newer replica knows', (open) => {
  async function served() {
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(await open()))
    const { db, clock, sealer, bus } = fixture
    const deps = { ...fixture, idempotency: idempotency({ db, clock, sealer }) }
    const app = testServer({ idempotency: deps.idempotency })
    const streams = new EventStreams({ db, bus, log: silentLog, heartbeatMs: 50 })
    closing({
      async close() {
        streams.close()
        const closed = app.close()
        app.server.closeAllConnections()
        await closed
      },
    })
    endpointRoutes(app, deps)
    deliveryRoutes(app, deps)
    testRoutes(app, deps)
    feedRoutes(app, { ...deps, streams, isSubscription, subscribes })
    const call = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) => {
      const response = await app.inject({ method, url, headers: KEY, ...(payload && { payload }) })
      return { status: response.statusCode, body: response.json() }
    }
    await fixture.create({ id: 'all', url: `${receiver.url}/all`, eventTypes: ['*'] })
    await fixture.create({ id: 'one', url: `${receiver.url}/one`, eventTypes: ['message.*'], retryCount: 0 })
    await db.transaction((tx) =>
      tx
        .updateTable('webhookEndpoints')
        .set({ eventTypes: JSON.stringify([NEWER.type]) })
        .where('id', '=', 'one')
        .execute(),
    )
    // Every stored event is checked against the catalogue when the test ends.
    closing({ close: () => db.transaction(async (tx) => void (await tx.deleteFrom('events').execute())) })
    /** As the newer replica records it. */
    const record = (id: string) =>
      db.transaction(async (tx) => {
        const event = {
          accountId: 'acc_1',
          provider: 'imap',
          sequence: null,
          objectId: 'msg_1',
          version: null,
        } as const
        const row = { ...event, id, type: NEWER.type, data: JSON.stringify(NEWER.data), position: null, fanOut: 1 }
        await tx
          .insertInto('events')
          .values({ ...row, createdAt: clock.now() })
          .execute()
      })
    const stream = async () => {
      const abort = new AbortController()
      closing({ close: async () => abort.abort() })
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      const { body } = await fetch(`${url}/events/stream?since=0`, { headers: KEY, signal: abort.signal })
      let text = ''
      const read = async () => {
        for await (const part of body ?? []) text += Buffer.from(part).toString()
      }
      read().catch(() => {})
      return () => text
    }
    return { receiver, fixture, call, record, stream }
  }

  it('is delivered as it was recorded, between events that this version knows', async () => {
    const { receiver, fixture, record, call } = await served()
    await fixture.record({})
    await record('evt_newer')
    await fixture.record({})
    await fixture.engine.start()
    await eventually(() => expect(receiver.requests).toHaveLength(4))
    const newer = receiver.requests.filter(({ body }) => JSON.parse(body).type === NEWER.type)
    expect(newer.map(({ path }) => path).sort()).toEqual(['/hook/all', '/hook/one'])
    expect(JSON.parse(newer[0]?.body ?? '')).toMatchObject({ id: 'evt_newer', ...NEWER, test: false })
    await eventually(async () => {
      const { body } = await call('GET', `/webhooks/deliveries?eventType=${NEWER.type}`)
      expect(body.deliveries).toMatchObject([
        { status: 'success', eventType: NEWER.type, payload: NEWER },
        { status: 'success', eventType: NEWER.type, payload: NEWER },
      ])
    })
  })

  it('is retried, recovered, listed and streamed, and its endpoint can be read, tested and changed', async () => {
    const { receiver, fixture, record, call, stream } = await served()
    const streamed = await stream()
    receiver.always({ status: 500 })
    await record('evt_newer')
    await fixture.engine.start()
    const failed = await eventually(async () => {
      const { body } = await call('GET', '/webhooks/deliveries?endpointId=one')
      expect(body.deliveries).toMatchObject([{ status: 'failed' }])
      return body.deliveries[0]
    })
    receiver.always({ status: 204 })
    await call('POST', `/webhooks/deliveries/${failed.id}/retry`)
    await eventually(() => expect(receiver.requests.at(-1)).toMatchObject({ path: '/hook/one' }))
    await fixture.db.transaction((tx) => tx.deleteFrom('webhookDeliveries').where('endpointId', '=', 'one').execute())
    const range = { since: '2020-01-01T00:00:00Z' }
    expect((await call('POST', '/webhooks/endpoints/one/recover', range)).body).toMatchObject({ recovered: 1 })

    expect((await call('GET', '/events')).body.events).toMatchObject([NEWER])
    expect((await call('GET', '/events/evt_newer')).body).toMatchObject(NEWER)
    await eventually(() => expect(streamed()).toContain(`event: ${NEWER.type}`))
    expect((await call('GET', '/webhooks/endpoints/one')).body).toMatchObject({ eventTypes: [NEWER.type] })
    expect((await call('PUT', '/webhooks/endpoints/one', { retryCount: 1 })).body).toMatchObject({ retryCount: 1 })
    expect((await call('POST', '/webhooks/endpoints/one/test')).body).toMatchObject({ status: 'success' })
  })
})
