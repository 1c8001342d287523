import { expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { webhookHouse } from '../../../test/kit/webhooks.ts'
import { startReceiver } from '../../../test/servers/receiver.ts'

async function receiverFor() {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}

describeEachDatabase('delivering', (open) => {
  it('brings a recorded event to the receiver, signed as the published libraries verify it', async () => {
    const receiver = await receiverFor()
    const house = webhookHouse(await open())
    await house.engine.start()
    const { secret = '' } = await house.create({ url: receiver.url })
    const [eventId] = await house.record({})

    await eventually(() => expect(receiver.requests).toHaveLength(1))
    receiver.verify(secret)
    const [request] = receiver.requests
    expect(request?.headers).toMatchObject({ 'webhook-id': eventId, 'content-type': 'application/json' })
    const [delivery] = await eventually(async () => {
      const found = await house.deliveries()
      expect(found).toMatchObject([{ status: 'success', attempt: 1 }])
      return found
    })
    expect(JSON.parse(request?.body ?? '')).toEqual(delivery?.payload)
    expect(Object.keys(delivery?.payload ?? {}).slice(0, 3)).toEqual(['deliveryId', 'test', 'id'])
  })
})
