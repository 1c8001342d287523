import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { type WebhookFixture, webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import { resendEvent } from './resend.ts'

const resend = (fixture: WebhookFixture, eventId: string, endpointId: string) =>
  fixture.db.transaction((tx) =>
    resendEvent(tx, { ...fixture, dialect: fixture.db.dialect }, { eventId, endpointId }, fixture.clock.now()),
  )

const stamped = (fixture: WebhookFixture) =>
  eventually(async () => {
    expect(await fixture.db.read.selectFrom('events').select('id').where('position', 'is', null).execute()).toEqual([])
  })

describeEachDatabase('sending one event to an endpoint', (open) => {
  async function started() {
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(await open()))
    const { id } = await fixture.create({ url: receiver.url, retryCount: 0, eventTypes: ['message.*'] })
    await fixture.engine.start()
    return { fixture, receiver, id }
  }

  it('delivers an event to which the endpoint does not subscribe, under its id', async () => {
    const { fixture, receiver, id } = await started()
    const [eventId = ''] = await fixture.record({ type: 'mailbox.changed' })
    await stamped(fixture)
    expect(await fixture.deliveries()).toEqual([])
    const deliveryId = await resend(fixture, eventId, id)
    await eventually(async () => {
      expect(await fixture.deliveries()).toMatchObject([
        { id: deliveryId, eventId, endpointId: id, status: 'success', trigger: 'recover' },
      ])
    })
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([eventId])
  })

  it('sends a delivery again instead of creating a second one, also when it succeeded', async () => {
    const { fixture, receiver, id } = await started()
    const [eventId = ''] = await fixture.record({})
    await eventually(async () => expect(await fixture.deliveries()).toMatchObject([{ status: 'success' }]))
    const ids = await Promise.all([resend(fixture, eventId, id), resend(fixture, eventId, id)])
    const [delivery] = await fixture.deliveries()
    expect(ids).toEqual([delivery?.id, delivery?.id])
    await eventually(async () => {
      const all = await fixture.deliveries()
      expect(all).toMatchObject([{ id: delivery?.id, status: 'success', trigger: 'retry' }])
    })
    expect(receiver.requests.length).toBeGreaterThan(1)
  })

  it('refuses unknown events and endpoints', async () => {
    const { fixture, id } = await started()
    const [eventId = ''] = await fixture.record({})
    await stamped(fixture)
    await expect(resend(fixture, 'evt_unknown', id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(resend(fixture, eventId, 'whe_unknown')).rejects.toMatchObject({ code: 'not_found' })
  })
})
