import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase, describePostgres } from '../../../../test/kit/database/database.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import { idGenerator } from '../../../platform/ids.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { holdStamping, stampEvents } from '../../index.ts'
import type { DuplicateFinder, FindDuplicates } from '../deliveries/mark-duplicates.ts'
import { newDelivery } from '../deliveries/new-delivery.ts'
import { insertDeliveries } from '../deliveries/store.ts'

const HOUR_MS = 3_600_000

describePostgres('two workers on one database', (open) => {
  it('deliver every event once', async () => {
    const place = await open.place()
    const receiver = closing(await startReceiver())
    const fixtures = [closing(webhookFixture(await open(place))), closing(webhookFixture(await open(place)))] as const
    for (const fixture of fixtures) await fixture.engine.start()
    const [one, two] = fixtures
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
})

describePostgres('a replica, while another one runs the fan-out', (open) => {
  it('reads no events again, however many are recorded, and delivers them afterwards', async () => {
    let asked = 0
    const find: FindDuplicates = async () => new Map()
    const duplicates: DuplicateFinder = {
      find,
      async ask() {
        asked += 1
        return find
      },
    }
    const receiver = closing(await startReceiver())
    const { db, engine, ...fixture } = closing(webhookFixture(await open(), { duplicates }))
    await fixture.create({ url: receiver.url })
    await engine.start()
    await db.transaction(async (tx) => {
      await holdStamping(tx, db.dialect)
      for (let index = 0; index < 20; index += 1) {
        await fixture.record({ objectId: `msg_${index}` })
        await sleep(20)
      }
    })
    expect(asked).toBeLessThan(5)
    await eventually(() => expect(receiver.requests).toHaveLength(20))
  })
})

describeEachDatabase('an endpoint that is deleted while events become deliveries', (open) => {
  it('leaves no delivery waiting forever or for a new endpoint with the same id', async () => {
    const fixture = closing(webhookFixture(await open()))
    const endpoint = await fixture.endpoints.get((await fixture.create({ url: 'http://app.example/' })).id)
    await fixture.record({})
    let deleting: Promise<void> | undefined
    await fixture.db.transaction(async (tx) => {
      const events = (await stampEvents(tx, fixture.db.dialect, 10)) ?? []
      const made = events.map((event) => newDelivery(idGenerator(systemClock), event, endpoint, Date.now()))
      await insertDeliveries(tx, made)
      deleting = fixture.endpoints.delete(endpoint.id)
      // The deletion must wait for this transaction; otherwise it ends within this time.
      await Promise.race([deleting, sleep(300)])
    })
    await deleting
    expect((await fixture.deliveries()).map(({ status }) => status)).toEqual(['cancelled'])
  })
})

describeEachDatabase('a worker that starts after another one died', (open, engine) => {
  it('takes over its deliveries: at once on the file store, after the lease elsewhere', async () => {
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(await open()))
    const endpoint = await fixture.endpoints.get((await fixture.create({ url: receiver.url })).id)
    const [id = ''] = await fixture.record({ fanOut: false })
    const event = { id, type: 'message.received', accountId: null }
    const delivery = newDelivery(idGenerator(systemClock), event, endpoint, Date.now())
    const leasedUntil = Date.now() + (engine === 'sqlite' ? HOUR_MS : 2000)
    await fixture.db.transaction((tx) => insertDeliveries(tx, [{ ...delivery, lease: 'a dead worker', leasedUntil }]))

    await fixture.engine.start()
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    if (engine === 'postgres') expect(Date.now()).toBeGreaterThanOrEqual(leasedUntil)
  })
})
