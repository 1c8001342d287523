import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { leasedRows, type Tx } from '../../../platform/db/index.ts'
import { idGenerator } from '../../../platform/ids.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { newDelivery } from '../deliveries/new-delivery.ts'
import { insertDeliveries } from '../deliveries/store.ts'
import { endpointStore } from '../endpoints/store.ts'
import type { Outcome } from './attempt.ts'
import { DELIVERIES } from './leases.ts'
import { recordResults } from './results.ts'

const SUCCESS: Outcome = {
  startedAt: 1000,
  durationMs: 5,
  responseStatus: 200,
  responseBody: null,
  error: null,
  retryAfterMs: undefined,
  signatures: 1,
  headerNames: [],
}

describeEachDatabase('recording the results of attempts', (open) => {
  async function oneDelivery() {
    const fixture = closing(webhookFixture(await open()))
    const { id } = await fixture.create({ url: 'http://127.0.0.1/hook' })
    const endpoint = await endpointStore(fixture.db.read).get(id)
    const [eventId = ''] = await fixture.record({ fanOut: false })
    const event = { id: eventId, type: 'message.received', accountId: null }
    const delivery = newDelivery(idGenerator(systemClock), event, endpoint, 1)
    await fixture.db.transaction((tx) => insertDeliveries(tx, [delivery]))
    const rows = (tx: Tx) => leasedRows(tx, fixture.db.dialect, DELIVERIES)
    const claim = (token: string, forMs = 60_000) =>
      fixture.db.transaction((tx) => rows(tx).claim({ key: id, nowMs: Date.now(), limit: 10 }, { token, forMs }))
    const release = (token: string) =>
      fixture.db.transaction((tx) => rows(tx).release({ ids: [delivery.id] }, { token, forMs: 60_000 }))
    const write = (token: string, outcome = SUCCESS) =>
      fixture.db.transaction((tx) => recordResults(tx, fixture, [{ delivery, lease: token, endpoint, outcome }], 2000))
    return { fixture, delivery, claim, release, write, id }
  }

  it('skips the result of a worker that lost its delivery to another', async () => {
    const { fixture, claim, write, id } = await oneDelivery()
    expect(await claim('first', 0)).toHaveLength(1)
    expect(await claim('second')).toHaveLength(1)
    await write('first')
    expect(await fixture.deliveries()).toMatchObject([{ status: 'pending', attempt: 0, attempts: [] }])
    expect(await fixture.endpoints.get(id)).toMatchObject({ lastDeliveryAt: null })
    await write('second')
    expect(await fixture.deliveries()).toMatchObject([{ status: 'success', attempt: 1, attempts: [{ attempt: 1 }] }])
    expect(await fixture.endpoints.get(id)).toMatchObject({ lastDeliveryAt: new Date(2000).toISOString() })
  })

  it('writes the results of several endpoints together, each under its own lease', async () => {
    const fixture = closing(webhookFixture(await open()))
    const [eventId = ''] = await fixture.record({ fanOut: false })
    const event = { id: eventId, type: 'message.received', accountId: null }
    const results = await Promise.all(
      ['first', 'second', 'lost'].map(async (lease) => {
        const { id } = await fixture.create({ url: `http://127.0.0.1/${lease}` })
        const endpoint = await endpointStore(fixture.db.read).get(id)
        const delivery = { ...newDelivery(idGenerator(systemClock), event, endpoint, 1), leasedUntil: Date.now() }
        const held = lease === 'lost' ? 'another' : lease
        await fixture.db.transaction((tx) => insertDeliveries(tx, [{ ...delivery, lease: held }]))
        return { delivery, lease, endpoint: { ...endpoint, url: `${endpoint.url}/moved` }, outcome: SUCCESS }
      }),
    )
    const { recorded } = await fixture.db.transaction((tx) => recordResults(tx, fixture, results, 2000))
    expect(recorded.map(({ lease }) => lease)).toEqual(['first', 'second'])
    const lastDeliveryAt = new Date(2000).toISOString()
    for (const { lease, endpoint } of results) {
      const expected =
        lease === 'lost'
          ? { status: 'pending', attempt: 0, url: 'http://127.0.0.1/lost' }
          : { status: 'success', attempt: 1, url: `http://127.0.0.1/${lease}/moved` }
      expect(await fixture.deliveries({ limit: 10, endpointId: endpoint.id })).toMatchObject([expected])
      expect(await fixture.endpoints.get(endpoint.id)).toMatchObject({
        lastDeliveryAt: lease === 'lost' ? null : lastDeliveryAt,
      })
    }
  })

  it('lets one worker at a time claim a delivery, and the next one after its release', async () => {
    const { claim, release } = await oneDelivery()
    expect(await claim('first')).toHaveLength(1)
    expect(await claim('second')).toHaveLength(0)
    await release('second')
    expect(await claim('second')).toHaveLength(0)
    await release('first')
    expect(await claim('second')).toHaveLength(1)
  })

  it('schedules the next attempt from the end of the last one', async () => {
    const { fixture, claim, write } = await oneDelivery()
    await claim('first')
    const error = { kind: 'timeout', message: 'No complete response arrived in time.' } as const
    await write('first', { ...SUCCESS, responseStatus: null, error })
    const nextAttemptAt = new Date(3000).toISOString()
    expect(await fixture.deliveries()).toMatchObject([{ status: 'retrying', attempt: 1, nextAttemptAt, error }])
  })
})
