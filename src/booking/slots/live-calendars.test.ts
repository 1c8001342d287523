import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CalendarAccount, day, describeEachCalendar } from '../../../test/kit/calendars/calendar-accounts.ts'
import { eventually } from '../../../test/kit/eventually.ts'

const GUEST = { email: 'lin@northwind.example', name: 'Lin Duarte' }

describeEachCalendar('a booking', (_provider, open) => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await open()
    const created = await account.api.post('/scheduler/experiences', {
      slug: 'call',
      name: 'Call',
      timezone: 'UTC',
      defaultAccountIds: [account.id],
      availability: {
        openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
        intervalMinutes: 15,
      },
    })
    expect(created.status).toBe(201)
  })
  afterAll(() => account?.stop())

  const book = (start: string) =>
    account.api.post('/scheduler/experiences/call/bookings', { slot: { start }, guest: GUEST })

  it('is not moved over a meeting that overlaps its own time, but over its own time', async () => {
    const booked = await book(`${day(1)}T09:00:00Z`)
    const path = `/scheduler/bookings/${booked.json.id}`
    await eventually(async () => expect((await account.api.get(path)).json.calendar.state).toBe('written'))
    const move = async (time: string) =>
      (await account.api.post(`${path}/reschedule`, { slot: { start: `${day(1)}T${time}:00Z` } })).status
    expect(await move('09:15')).toBe(200)
    // From 9 to 10 o'clock.
    await account.write('Just made')
    expect(await move('08:45')).toBe(409)
    expect(await move('08:30')).toBe(200)
  })

  it('is never made over a meeting that another program has just written', async () => {
    const refused = await Promise.all(['09:00', '09:30'].map((time) => book(`${day(1)}T${time}:00Z`)))
    expect(refused.map(({ status, json }) => [status, json.error?.code])).toEqual([
      [409, 'slot_unavailable'],
      [409, 'slot_unavailable'],
    ])
    expect((await book(`${day(1)}T10:00:00Z`)).status).toBe(201)
  })

  it('is not made while the calendar cannot be asked, and says so', async () => {
    await account.breakCalendar()
    const refused = await book(`${day(2)}T09:00:00Z`)
    expect([refused.status, refused.json.error.code]).toEqual([502, 'provider_unavailable'])
  })
})
