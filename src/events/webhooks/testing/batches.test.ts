import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { sampleEvent } from '../../../../test/kit/events/events.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import { idGenerator } from '../../../platform/ids.ts'
import { type Clock, systemClock } from '../../../platform/time/clock.ts'

const open = databases('sqlite')

async function subscribedEndpoints(count: number, clock: Clock = systemClock) {
  const receiver = closing(await startReceiver())
  const message = sampleEvent('message.received')
  const fixture = closing(webhookFixture(await open(), { clock, readMessage: async () => message }))
  const template = await fixture.create({ id: 'first', url: `${receiver.url}/first` })
  const row = await fixture.db.read
    .selectFrom('webhookEndpoints')
    .selectAll()
    .where('id', '=', template.id)
    .executeTakeFirstOrThrow()
  const ids = idGenerator(clock)
  const others = Array.from({ length: count - 1 }, () => ids('whe'))
  await fixture.db.transaction(async (tx) => {
    for (const id of others) {
      const values = { ...row, id, url: `${receiver.url}/${id}`, secrets: null }
      await tx.insertInto('webhookEndpoints').values(values).execute()
    }
  })
  return { receiver, fixture }
}

it('sends a test message to many endpoints a few at a time', async () => {
  const { receiver, fixture } = await subscribedEndpoints(120)
  receiver.always({ delayMs: 150 })
  const ids = await fixture.testDeliveries.testMessage('acc_1', 'msg_1')
  expect(new Set(ids).size).toBe(120)
  expect(new Set(receiver.requests.map(({ path }) => path)).size).toBe(120)
  expect(receiver.mostOpen).toBeLessThanOrEqual(32)
  const states = fixture.db.read.selectFrom('webhookDeliveries').select(['status', 'attempt']).distinct()
  expect(await states.execute()).toEqual([{ status: 'success', attempt: 1 }])
})

it('leaves endpoints that it does not reach in time to the workers, which send each delivery once', async () => {
  let skippedMs = 0
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skippedMs }
  const { receiver, fixture } = await subscribedEndpoints(100, clock)
  receiver.always(() => {
    skippedMs = 30_000
    return {}
  })
  const ids = await fixture.testDeliveries.testMessage('acc_1', 'msg_1')
  expect(ids).toHaveLength(100)
  expect(receiver.requests).toHaveLength(32)
  await fixture.engine.start()
  const states = fixture.db.read.selectFrom('webhookDeliveries').select(['status', 'attempt', 'test']).distinct()
  await eventually(async () => expect(await states.execute()).toEqual([{ status: 'success', attempt: 1, test: 1 }]))
  expect(receiver.requests).toHaveLength(100)
  expect(receiver.requests.every(({ body }) => JSON.parse(body).test === true)).toBe(true)
})

it('refuses a further test to all endpoints while several are being sent', async () => {
  const { receiver, fixture } = await subscribedEndpoints(2)
  receiver.always({ delayMs: 200 })
  const sent = Array.from({ length: 6 }, () => fixture.testDeliveries.testEvent('message.received'))
  const results = await Promise.allSettled(sent)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
  expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'rate_limited' } })
  await expect(fixture.testDeliveries.testEvent('message.received')).resolves.toBeDefined()
})
