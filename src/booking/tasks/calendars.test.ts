import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CalendarAccount, day, describeEachCalendar } from '../../../test/kit/calendars/calendar-accounts.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'

const GUEST = { email: 'lin@northwind.example', name: 'Lin Duarte' }

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

describeEachCalendar('the event of a booking', (provider, open) => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await open()
    const created = await account.api.post('/scheduler/experiences', {
      slug: 'call',
      name: 'Call',
      timezone: 'Europe/Berlin',
      defaultAccountIds: [account.id],
      availability: { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }] },
    })
    expect(created.status).toBe(201)
  })
  afterAll(() => account?.stop())

  async function book(start: string): Promise<Json> {
    const booked = await account.api.post('/scheduler/experiences/call/bookings', { slot: { start }, guest: GUEST })
    expect([booked.status, booked.text]).toEqual([201, expect.anything()])
    return shows(booked.json.id, { status: 'confirmed', calendar: { state: 'written', error: null } })
  }
  const shows = (id: string, expected: object): Promise<Json> =>
    eventually(async () => {
      const { json } = await account.api.get(`/scheduler/bookings/${id}`)
      expect(json).toMatchObject(expected)
      return json
    })
  const readEvent = async ({ eventId }: Json): Promise<Json> =>
    (await account.api.get(`${account.events}/${eventId}`)).json

  it('has time, guest and links, follows the booking, and makes the host busy', async () => {
    const booking = await book(`${day(3)}T09:00:00Z`)
    const event = await readEvent(booking)
    expect(event).toMatchObject({ summary: 'Call: Lin Duarte', start: { dateTime: `${day(3)}T09:00:00.000Z` } })
    expect(event.description).toContain(GUEST.email)
    expect(event.description).toContain(`/book/call/bookings/${booking.id}?token=`)
    expect(event.attendees.map(({ email }: Json) => email)).toEqual(provider === 'gmail' ? [GUEST.email] : [])
    const move = { slot: { start: `${day(3)}T09:30:00Z` } }
    expect((await account.api.post(`/scheduler/bookings/${booking.id}/reschedule`, move)).status).toBe(200)
    const moved = await shows(booking.id, { status: 'rescheduled', calendar: { state: 'written', error: null } })
    expect(moved.eventId).toBe(booking.eventId)
    expect(await readEvent(moved)).toMatchObject({ start: { dateTime: `${day(3)}T09:30:00.000Z` } })
    const listed = await account.api.post('/scheduler/experiences/call/availability', {
      range: { start: `${day(3)}T09:00:00Z`, end: `${day(3)}T10:30:00Z` },
      durationMinutes: 30,
    })
    expect(listed.json.slots.map(({ start }: Json) => start)).toEqual([
      `${day(3)}T09:00:00.000Z`,
      `${day(3)}T10:00:00.000Z`,
    ])
    await account.api.post(`/scheduler/bookings/${booking.id}/cancel`)
    await shows(booking.id, { status: 'cancelled', calendar: { state: 'written', error: null } })
    expect((await account.api.get(`${account.events}/${booking.eventId}`)).status).toBe(404)
  })

  it('has no attendees before the guest is verified, so that no provider writes to strangers', async () => {
    const booked = await api(account.api.url).post('/scheduler/experiences/call/bookings', {
      slot: { start: `${day(5)}T09:00:00Z` },
      guest: GUEST,
      attendees: [{ email: 'kim@northwind.example' }],
    })
    expect([booked.status, booked.json.guestVerified]).toEqual([201, false])
    const booking = await shows(booked.json.id, { calendar: { state: 'written' } })
    const event = await readEvent(booking)
    expect(event.attendees).toEqual([])
    expect(event.description).toContain(GUEST.email)
  })

  it('takes the booking with it when the host moves or deletes it', async () => {
    const booking = await book(`${day(4)}T09:00:00Z`)
    const path = `${account.events}/${booking.eventId}`
    const at = (time: string) => ({ dateTime: `${day(4)}T${time}:00Z`, timeZone: 'Europe/Berlin' })
    expect((await account.api.patch(path, { start: at('13:00'), end: at('14:00') })).status).toBe(200)
    const moved = await shows(booking.id, { status: 'rescheduled', calendar: { state: 'written', error: null } })
    expect(moved.slot).toMatchObject({ start: `${day(4)}T13:00:00.000Z`, end: `${day(4)}T14:00:00.000Z` })
    const taken = await account.api.post('/scheduler/experiences/call/holds', {
      slot: { start: `${day(4)}T13:30:00Z` },
    })
    expect(taken.json.error.code).toBe('slot_unavailable')
    expect((await account.api.delete(path)).status).toBe(200)
    await shows(booking.id, { status: 'cancelled', cancelledBy: 'host' })
    await eventually(async () => {
      const { json } = await account.api.get(`/events?accountId=${account.id}&type=booking.cancelled`)
      expect(json.events[0]).toMatchObject({ objectId: booking.id, data: { cancelledBy: 'host' } })
    })
    const free = await account.api.post('/scheduler/experiences/call/holds', { slot: { start: `${day(4)}T13:30:00Z` } })
    expect(free.status).toBe(200)
  })
})
