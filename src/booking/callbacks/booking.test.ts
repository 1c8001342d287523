import { describe, expect, it } from 'vitest'
import { at, availability, json, lastBody, serveCallbacks, slot } from '../../../test/kit/booking/callbacks.ts'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { startReceiver } from '../../../test/servers/receiver.ts'

const PATH = '/scheduler/experiences/intro-call'
const guest = { email: 'grace@example.org', name: 'Grace' }

describeEachDatabase('a booking of a slot from the application', (open) => {
  async function serve(changes: Record<string, unknown> = {}) {
    const booking = closing(await startReceiver())
    const served = await serveCallbacks(await open(), { bookingEndpoint: { url: booking.url }, ...changes })
    return {
      ...served,
      booking,
      book: (body: object) => served.visit('POST', `${PATH}/bookings`, { guest, ...body }),
      hold: async (chosen: object) => (await served.visit('POST', `${PATH}/holds`, { slot: chosen })).json.id as string,
      blocks: () => served.db.read.selectFrom('bookingBlocks').select(['ownerId', 'hostId']).execute(),
    }
  }

  it('takes host, participants and metadata of the listed slot, and asks the application once', async () => {
    const { list, book, hold, receiver, booking, account, blocks } = await serve()
    const host = await account()
    const own = { participants: ['Ada'], metadata: { accountId: host, office: 'Berlin' } }
    receiver.always(
      json(availability([slot('09:00', '09:30', own), slot('10:00', '10:30', own), slot('11:00', '11:30', own)])),
    )
    const [first, second] = (await list()).json.slots
    const made = await book({ slot: first })
    expect([made.status, made.json.slot]).toMatchObject([201, own])
    expect(lastBody(booking.requests).request).toMatchObject({ bookingId: made.json.id, guest, slot: own })
    const held = await book({ slot: second, holdId: await hold(second) })
    expect([held.status, held.json.slot]).toMatchObject([201, own])
    expect(await blocks()).toEqual([made, held].map((booking) => ({ ownerId: booking.json.id, hostId: host })))
    // Once for the list, and once for the other times that the host keeps beside the hold of a guest.
    expect(receiver.requests).toHaveLength(2)
    // The application lists them still.
    expect((await list()).json.slots).toMatchObject([{ start: '2026-11-24T11:00:00.000Z' }])
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
    receiver.always(json(availability([slot('09:00', '09:30'), slot('10:00', '10:30')])))
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

  it('vouches for a guest if the application says so, so that attendees are invited', async () => {
    const { book, receiver, booking, account, db, call } = await serve()
    await call('PATCH', PATH, { defaultAccountIds: [await account()] })
    receiver.always(json(availability(['09:00', '10:00', '11:00'].map((time) => slot(time, `${time.slice(0, 2)}:30`)))))
    const recipients = async (id: string) => {
      const tasks = await db.read.selectFrom('bookingTasks').select('subject').where('bookingId', '=', id).execute()
      return tasks
        .map(({ subject }) => subject.split(':')[2] ?? '')
        .filter((recipient) => /guest|attendees/.test(recipient))
    }
    const spent = async () => {
      const rows = await db.read.selectFrom('guestCounters').select('spent').execute()
      return rows.flatMap((row) => JSON.parse(row.spent))
    }
    const attendees = [{ email: 'kim@example.org' }]
    booking.always(json({ status: 'confirmed', guestVerified: true }))
    const confirmed = (await book({ slot: { start: at('09:00') }, attendees })).json
    expect([confirmed.guestVerified, (await recipients(confirmed.id)).sort()]).toEqual([true, ['attendees', 'guest']])
    expect(await spent()).toEqual([])
    booking.always(json({ status: 'confirmed' }))
    // Now the host knows the guest, but somebody else may have entered the address.
    const other = (await book({ slot: { start: at('10:00') }, attendees })).json
    expect([other.guestVerified, await recipients(other.id)]).toEqual([false, ['guest']])
    expect(await spent()).toHaveLength(1)
    // A booking that the application refuses sends no message, and costs none.
    booking.always(json({ status: 'rejected' }))
    expect((await book({ slot: { start: at('11:00') } })).status).toBe(409)
    expect((await spent()).map(([, count]) => count)).toEqual([1])
  })

  it('needs the code of the guest, but none with a key', async () => {
    const { book, call, visit, receiver, account, db } = await serve()
    await call('PATCH', PATH, { defaultAccountIds: [await account()], bookingForm: { verifyEmail: true } })
    receiver.always(json(availability([slot('09:00', '09:30'), slot('10:00', '10:30')])))
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

  describe('that the application decides later', () => {
    const booking = async (changes: Record<string, unknown> = {}) => {
      const served = await serve({ availabilityEndpoint: null, ...changes })
      served.booking.always(json({ status: 'pending' }))
      const host = await served.account()
      const hours = { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }], decisionMinutes: 90 }
      const availability = { ...hours, checkCalendars: 'stored' }
      await served.call('PATCH', PATH, { defaultAccountIds: [host], availability })
      const body = { slot: { start: at('09:00') } }
      const made = await served.visit('POST', `${PATH}/bookings`, { guest, ...body }, { 'idempotency-key': 'own' })
      expect([made.status, made.json.status]).toEqual([201, 'pending'])
      const path = `/scheduler/bookings/${made.json.id}`
      const types = async () => {
        const rows = await served.db.read.selectFrom('events').select('type').orderBy('id').execute()
        return rows.map(({ type }) => type).filter((type) => type.startsWith('booking.'))
      }
      return { ...served, path, types, id: made.json.id as string, link: made.json.links.cancel as string }
    }

    it('blocks its slot, is returned to a repeated request, and is confirmed once', async () => {
      const { book, call, visit, path, types, booking: endpoint } = await booking()
      expect((await book({ slot: { start: at('09:00') } })).json.error.code).toBe('slot_unavailable')
      const key = { 'idempotency-key': 'own' }
      const again = await visit('POST', `${PATH}/bookings`, { guest, slot: { start: at('09:00') } }, key)
      expect([again.status, again.json.status]).toEqual([201, 'pending'])
      expect(endpoint.requests).toHaveLength(1)
      const decided = await call('PATCH', path, { status: 'confirmed', joinUrl: 'https://meet.example.com/1' })
      expect([decided.status, decided.json]).toMatchObject([
        200,
        { status: 'confirmed', joinUrl: 'https://meet.example.com/1' },
      ])
      expect((await call('PATCH', path, { status: 'confirmed' })).status).toBe(200)
      expect((await call('PATCH', path, { status: 'rejected' })).status).toBe(409)
      expect(await types()).toEqual(['booking.created', 'booking.confirmed'])
    })

    it('names each member of a decision that is wrong, and changes nothing then', async () => {
      const { call, path, types } = await booking()
      const metadata = { own: 1 }
      for (const [body, ...paths] of [
        [{ status: 'confirmed', joinUrl: 'javascript:x' }, 'body.joinUrl'],
        [{ joinUrl: 'https://meet.example.com/1', eventId: 'e1' }, 'body.joinUrl', 'body.eventId'],
        [{ reason: 'No.' }, 'body.reason'],
        [{ status: 'confirmed', reason: 'No.' }, 'body.reason'],
        [{ status: 'rejected', eventId: 'e1' }, 'body.eventId'],
        [{ status: 'confirmed', guest: { name: ' ' } }, 'body.guest.name'],
      ] as const) {
        const { status, json: refused } = await call('PATCH', path, { metadata, ...body })
        expect([status, refused.error.details.map((detail: { path: string }) => detail.path)]).toEqual([400, paths])
      }
      expect((await call('GET', path)).json).toMatchObject({ status: 'pending', metadata: {} })
      expect(await types()).toEqual(['booking.created'])
    })

    it('is decided together with its metadata, or not at all', async () => {
      const { call, db, path } = await booking()
      const confirmed = await call('PATCH', path, { status: 'confirmed', metadata: { office: 'blue' } })
      expect(confirmed.json).toMatchObject({ status: 'confirmed', metadata: { office: 'blue' } })
      const event = db.read.selectFrom('events').select('data').where('type', '=', 'booking.confirmed')
      expect(JSON.parse((await event.executeTakeFirstOrThrow()).data)).toMatchObject({ metadata: { office: 'blue' } })
      const late = await call('PATCH', path, { status: 'rejected', metadata: { office: 'red' } })
      expect([late.status, late.json.error.message]).toEqual([409, 'The booking is confirmed already.'])
      expect((await call('GET', path)).json.metadata).toEqual({ office: 'blue' })
    })

    it('frees its slot when it is rejected, with the reason for the guest', async () => {
      const { book, call, visit, path, link, types, booking: endpoint } = await booking()
      const decided = await call('PATCH', path, { status: 'rejected', reason: 'We are closed.' })
      expect(decided.json).toMatchObject({ status: 'rejected', reason: 'We are closed.' })
      const { pathname, search } = new URL(link)
      const page = await visit('GET', pathname + search, undefined, { accept: 'text/html' })
      expect(page.text).toContain('We are closed.')
      expect(await types()).toEqual(['booking.created', 'booking.rejected'])
      endpoint.always(json({}))
      expect((await book({ slot: { start: at('09:00') } })).status).toBe(201)
    })

    it('is rejected when the time of the experience is over, for a reason that its guest does not read', async () => {
      const { db, call, visit, path, link, id, clock, features } = await booking()
      const task = () =>
        db.read.selectFrom('bookingTasks').selectAll().where('bookingId', '=', id).where('type', '=', 'decision')
      expect(Number((await task().executeTakeFirstOrThrow()).dueAt)).toBe(clock.now() + 90 * 60_000)
      await db.transaction((tx) =>
        tx.updateTable('bookingTasks').set({ dueAt: clock.now() }).where('type', '=', 'decision').execute(),
      )
      await features.scheduler.tasks.start()
      await eventually(async () => {
        const { json: shown } = await call('GET', path)
        expect(shown).toMatchObject({ status: 'rejected', reason: 'The booking was not confirmed in time.' })
      })
      await features.scheduler.tasks.stop(2000)
      const { pathname, search } = new URL(link)
      const page = await visit('GET', pathname + search, undefined, { accept: 'text/html', 'accept-language': 'de' })
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('Abgelehnt')])
      expect(page.text).not.toMatch(/in time|Grund/)
    })
  })
})
