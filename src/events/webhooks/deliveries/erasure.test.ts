import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { sampleEvent } from '../../../../test/kit/events/events.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import { eraseDeliveries, purgeDeliveries } from './erasure.ts'
import { deliveryStore } from './store.ts'

describeEachDatabase('deleting deliveries', (open) => {
  async function failingFixture() {
    const receiver = closing(await startReceiver())
    receiver.always({ status: 500 })
    const fixture = closing(webhookFixture(await open()))
    await fixture.create({ url: receiver.url, eventTypes: ['*'], retryDelayMs: 60_000 })
    return { fixture, receiver }
  }

  it('sends account.deleted for a deleted account, and nothing else', async () => {
    const { fixture, receiver } = await failingFixture()
    await fixture.engine.start()
    await fixture.record({ accountId: 'acc_a' }, { accountId: 'acc_b' })
    await eventually(async () => expect(await fixture.deliveries({ status: 'retrying' })).toHaveLength(2))
    await fixture.db.transaction(async (tx) => {
      // Recorded just now, and not fanned out yet.
      await fixture.recorder.record(tx, [
        { ...sampleEvent('message.updated'), accountId: 'acc_a' },
        { ...sampleEvent('account.deleted'), accountId: 'acc_a', objectId: 'acc_a' },
      ])
      await tx.insertInto('accountErasures').values({ accountId: 'acc_a', requestedAt: 1 }).execute()
    })
    await eventually(() => expect(receiver.requests).toHaveLength(3))
    expect(JSON.parse(receiver.requests[2]?.body ?? '').type).toBe('account.deleted')
    // The attempt row is written after the request.
    await eventually(async () => expect(await fixture.deliveries({ status: 'retrying' })).toHaveLength(3))
    const [waiting] = await fixture.deliveries({ accountId: 'acc_a' })
    await fixture.db.transaction(async (tx) => {
      const due = tx.updateTable('webhookDeliveries').set({ nextAttemptAt: 0 })
      await due.where('id', '=', waiting?.id ?? '').execute()
      await fixture.queue.addIn(tx, 'deliver', [waiting?.endpointId ?? ''])
    })
    await eventually(async () => expect(await fixture.deliveries({ status: 'retrying' })).toHaveLength(2))
    expect(receiver.requests).toHaveLength(3)
    const seen = await fixture.deliveries()
    expect(seen.map(({ accountId, eventType, status }) => [accountId, eventType, status])).toEqual([
      ['acc_a', 'message.received', 'cancelled'],
      ['acc_b', 'message.received', 'retrying'],
      ['acc_a', 'account.deleted', 'retrying'],
    ])

    expect(await fixture.db.transaction((tx) => eraseDeliveries(tx, 'acc_a', 500))).toBe(1)
    expect((await fixture.deliveries()).map(({ accountId, eventType }) => [accountId, eventType])).toEqual([
      ['acc_b', 'message.received'],
      ['acc_a', 'account.deleted'],
    ])
    expect(await attemptsLeft(fixture.db)).toBe(2)
    expect((await deliveryStore(fixture.db.read).list({})).pagination.total).toBe(2)
  })

  it('purges old deliveries with their attempts in steps, the oldest first', async () => {
    const { fixture } = await failingFixture()
    await fixture.engine.start()
    await fixture.record({}, {}, {})
    await eventually(async () => expect(await fixture.deliveries({ status: 'retrying' })).toHaveLength(3))
    const purge = (beforeMs: number, limit: number) =>
      fixture.db.transaction((tx) => purgeDeliveries(tx, beforeMs, limit))
    expect(await purge(Date.now() - 60_000, 2)).toBe(0)
    expect(await fixture.deliveries()).toHaveLength(3)
    expect(await purge(Date.now() + 1000, 2)).toBe(2)
    expect(await fixture.deliveries()).toHaveLength(1)
    expect(await purge(Date.now() + 1000, 2)).toBe(1)
    expect(await fixture.deliveries()).toEqual([])
    expect(await attemptsLeft(fixture.db)).toBe(0)
    expect((await deliveryStore(fixture.db.read).list({})).pagination.total).toBe(0)
  })

  it('cancels a delivery whose event was erased, without delaying others', async () => {
    const { fixture, receiver } = await failingFixture()
    await fixture.engine.start()
    await fixture.record({})
    await eventually(async () => expect(await fixture.deliveries({ status: 'retrying' })).toHaveLength(1))
    const [delivery] = await fixture.deliveries()
    await fixture.db.transaction(async (tx) => {
      await tx.deleteFrom('events').execute()
      await tx.updateTable('webhookDeliveries').set({ nextAttemptAt: 0 }).execute()
      await fixture.queue.addIn(tx, 'deliver', [delivery?.endpointId ?? ''])
    })
    await eventually(async () =>
      expect(await fixture.deliveries()).toMatchObject([{ status: 'cancelled', payload: null }]),
    )
    expect(receiver.requests).toHaveLength(1)
  })
})

async function attemptsLeft(db: Parameters<typeof webhookFixture>[0]): Promise<number> {
  return (await db.read.selectFrom('webhookAttempts').select('deliveryId').execute()).length
}
