import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { webhookHouse } from '../../../test/kit/webhooks.ts'
import { startReceiver } from '../../../test/servers/receiver.ts'

describeEachDatabase('two workers on one database', (open, engine) => {
  it.skipIf(engine === 'sqlite')('deliver every event once between them', async () => {
    const place = await open.place()
    const receiver = closing(await startReceiver())
    const houses = [closing(webhookHouse(await open(place))), closing(webhookHouse(await open(place)))] as const
    for (const house of houses) await house.engine.start()
    const [one, two] = houses
    for (let index = 0; index < 4; index += 1) await one.create({ url: `${receiver.url}/${index}` })
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : two).record({ objectId: `msg_${index}` })),
    )
    await eventually(async () => {
      const { count } = await one.db.read
        .selectFrom('webhookDeliveries')
        .where('status', '=', 'success')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      expect(count).toBe(200)
    })
    const pairs = receiver.requests.map((request) => `${request.path} ${request.headers['webhook-id']}`)
    expect(new Set(pairs).size).toBe(200)
    expect(pairs).toHaveLength(200)
  })

  it('takes over what a dead worker held once its lease has run out', async () => {
    const receiver = closing(await startReceiver())
    const house = closing(webhookHouse(await open()))
    const { id } = await house.create({ url: receiver.url })
    await house.db.transaction((tx) =>
      tx
        .insertInto('webhookDeliveries')
        .values(heldDelivery(id, receiver.url, Date.now() + 1500))
        .execute(),
    )
    await house.record({ fanOut: false })
    const [event] = await house.db.read.selectFrom('events').selectAll().execute()
    await house.db.transaction((tx) =>
      tx
        .updateTable('webhookDeliveries')
        .set({ eventId: event?.id ?? '' })
        .execute(),
    )
    await house.engine.start()
    if (engine === 'postgres') expect(receiver.requests).toEqual([])
    await house.queue.add('deliver', id, { delayMs: engine === 'sqlite' ? 0 : 1600 })
    await eventually(() => expect(receiver.requests).toHaveLength(1))
  })
})

function heldDelivery(endpointId: string, url: string, leasedUntil: number) {
  return {
    id: 'dlv_held',
    endpointId,
    eventId: 'evt_missing',
    eventType: 'message.received',
    accountId: null,
    status: 'pending' as const,
    trigger: 'event' as const,
    test: 0,
    attempt: 0,
    maxAttempts: 4,
    nextAttemptAt: 1,
    leasedUntil,
    lease: 'somebody else',
    url,
    createdAt: 1,
  }
}
