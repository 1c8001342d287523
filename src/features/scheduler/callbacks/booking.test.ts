import { expect, it } from 'vitest'
import { answer, at, json, lastBody, serveCallbacks, slot } from '../../../../test/kit/callbacks.ts'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'

const PATH = '/scheduler/experiences/intro-call'
const guest = { email: 'grace@example.org', name: 'Grace' }

describeEachDatabase('a booking of a slot from the application', (open) => {
  async function serve(changes: Record<string, unknown> = {}) {
    const booking = closing(await startReceiver())
    const served = await serveCallbacks(await open(), { bookingEndpoint: { url: booking.url }, ...changes })
    return {
      ...{ ...served, booking },
      book: (body: object) => served.visit('POST', `${PATH}/bookings`, { guest, ...body }),
      hold: async (chosen: object) => (await served.visit('POST', `${PATH}/holds`, { slot: chosen })).json.id as string,
      blocks: () => served.db.read.selectFrom('bookingBlocks').select(['ownerId', 'hostId']).execute(),
    }
  }

  it('takes host, participants and metadata of the listed slot, and asks the application once', async () => {
    const { list, book, hold, receiver, booking, account, blocks } = await serve()
    const host = await account()
    const own = { participants: ['Ada'], metadata: { accountId: host, office: 'Berlin' } }
    receiver.always(json(answer([slot('09:00', '09:30', own), slot('10:00', '10:30', own)])))
    const [first, second] = (await list()).json.slots
    const made = await book({ slot: first })
    expect([made.status, made.json.slot]).toMatchObject([201, own])
    expect(lastBody(booking.requests).request).toMatchObject({ bookingId: made.json.id, guest, slot: own })
    const held = await book({ slot: second, holdId: await hold(second) })
    expect([held.status, held.json.slot]).toMatchObject([201, own])
    expect(await blocks()).toEqual([made, held].map((one) => ({ ownerId: one.json.id, hostId: host })))
    expect(receiver.requests).toHaveLength(1)
    // The application lists it still.
    expect((await list()).json.slots).toEqual([])
    expect((await book({ slot: first })).json.error.code).toBe('slot_unavailable')
    expect(booking.requests).toHaveLength(2)
  })

  it('frees the hold of other hosts when the answers lead elsewhere', async () => {
    const { list, book, hold, receiver, account, blocks, call } = await serve()
    const [ada, bob] = [await account(), await account()]
    await call('PATCH', PATH, {
      defaultAccountIds: [ada],
      bookingForm: {
        fields: [{ name: 'vip', label: 'VIP', type: 'checkbox' }],
        routing: [{ when: { field: 'vip', equals: true }, accountIds: [bob] }],
      },
    })
    receiver.always(json(answer([slot('09:00', '09:30')])))
    const [listed] = (await list()).json.slots
    const holdId = await hold(listed)
    expect(await blocks()).toEqual([{ ownerId: holdId, hostId: ada }])
    const { status, json: made } = await book({ slot: listed, holdId, responses: { vip: true } })
    expect([status, made.slot.participants]).toEqual([201, [bob]])
    expect(await blocks()).toEqual([{ ownerId: made.id, hostId: bob }])
  })

  it('is refused with the address where the guest continues', async () => {
    const { book, call } = await serve()
    await call('PATCH', PATH, {
      bookingForm: {
        fields: [{ name: 'size', label: 'Size', type: 'text' }],
        routing: [{ when: { field: 'size', in: ['1'] }, redirectUrl: 'https://example.com/shop' }],
      },
    })
    const { status, json: refused } = await book({ slot: { start: at('09:00') }, responses: { size: '1' } })
    expect([status, refused.error]).toMatchObject([
      409,
      { code: 'redirected', redirectUrl: 'https://example.com/shop' },
    ])
  })

  it('needs the code of the guest, but none with a key', async () => {
    const { book, call, visit, receiver, account, db } = await serve()
    await call('PATCH', PATH, { defaultAccountIds: [await account()], bookingForm: { verifyEmail: true } })
    receiver.always(json(answer([slot('09:00', '09:30'), slot('10:00', '10:30')])))
    const chosen = { slot: { start: at('09:00') } }
    for (const wrong of [{}, { verificationCode: '123' }]) {
      const { status, json: refused } = await book({ ...chosen, ...wrong })
      expect([status, refused.error.details[0].path]).toEqual([400, 'body.verificationCode'])
    }
    expect((await visit('POST', `${PATH}/verification`, { email: guest.email })).status).toBe(200)
    const { subject } = await db.read.selectFrom('outbox').select('subject').executeTakeFirstOrThrow()
    expect((await book({ ...chosen, verificationCode: subject.slice(0, 6) })).status).toBe(201)
    const own = await call('POST', `${PATH}/bookings`, { guest, slot: { start: at('10:00') } })
    expect(own.status).toBe(201)
  })
})
