import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type CalendarAccount, day, openImap, openMicrosoft } from '../../../../test/kit/calendars/calendar-accounts.ts'
import { icsObject } from '../../../../test/servers/radicale-calendar.ts'
import { DAY_MS, parseDay } from '../../../platform/calendar/days.ts'
import { findZone } from '../../../platform/calendar/zone.ts'

const GUEST = { email: 'lin@northwind.example', name: 'Lin Duarte' }
const HOUR_MS = 3_600_000
/** Far from the meetings of other tests, and from each other. */
const [ABSENT, FLOATING] = [20, 26]
const ALL_HOURS = ['09:00', '10:00', '11:00', '12:00', '13:00', '14:00', '15:00', '16:00']

/** The instant of a wall clock, such as `09:00`. */
function instant(date: string, time: string, zone: string): string {
  const hours = Number(time.slice(0, 2))
  const localMs = (parseDay(date) ?? 0) * DAY_MS + hours * HOUR_MS
  return new Date(findZone(zone)?.toUtc(localMs) ?? Number.NaN).toISOString()
}

async function experienceIn(account: CalendarAccount, zone: string): Promise<string> {
  const slug = `call-${zone.toLowerCase().replaceAll(/[^a-z]/g, '-')}`
  const created = await account.api.post('/scheduler/experiences', {
    slug,
    name: 'Call',
    timezone: zone,
    defaultAccountIds: [account.id],
    availability: {
      openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '09:00', end: '17:00' }],
      timezone: zone,
      durationMinutes: 60,
    },
  })
  expect(created.status).toBe(201)
  return `/scheduler/experiences/${slug}`
}

/** The hours of the place that can be booked on a date. */
async function freeHours(account: CalendarAccount, path: string, date: string, zone: string): Promise<string[]> {
  const range = { start: instant(date, '00:00', zone), end: instant(date, '24:00', zone) }
  const { json } = await account.api.post(`${path}/availability`, { range, durationMinutes: 60 })
  return ALL_HOURS.filter((time) =>
    json.slots.some(({ start }: { start: string }) => start === instant(date, time, zone)),
  )
}

async function book(account: CalendarAccount, path: string, start: string) {
  const { status, json } = await account.api.post(`${path}/bookings`, { slot: { start }, guest: GUEST })
  return [status, json.error?.code]
}

describe('an all-day absence in Outlook', () => {
  it('is a day of its creator, whatever zone Graph has it in, stored and live', async () => {
    const account = await openMicrosoft()
    onTestFinished(() => account.stop())
    const zone = 'Pacific/Auckland'
    const midnight = (date: string) => ({ dateTime: `${date}T00:00:00.0000000`, timeZone: 'UTC' })
    account.graph?.calendars.put(account.user, 'calendar', {
      subject: 'Out of office',
      isAllDay: true,
      showAs: 'oof',
      start: midnight(day(ABSENT)),
      end: midnight(day(ABSENT + 1)),
      originalStartTimeZone: 'New Zealand Standard Time',
      originalEndTimeZone: 'New Zealand Standard Time',
    })
    await account.sync()
    const path = await experienceIn(account, zone)
    expect(await freeHours(account, path, day(ABSENT), zone)).toEqual([])
    expect(await freeHours(account, path, day(ABSENT + 1), zone)).toEqual(ALL_HOURS)
    expect(await book(account, path, instant(day(ABSENT), '09:00', zone))).toEqual([409, 'slot_unavailable'])
    expect(await book(account, path, instant(day(ABSENT + 1), '09:00', zone))).toEqual([201, undefined])
  })
})

describe('a calendar without a zone', () => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await openImap()
    const absence = { summary: 'Away', start: { date: day(ABSENT) }, end: { date: day(ABSENT + 1) } }
    const at = (time: string) => ({ dateTime: `${day(FLOATING)}T${time}:00`, timeZone: null })
    await account.putObject?.(icsObject([absence]))
    await account.putObject?.(icsObject([{ summary: 'Floating', start: at('10:00'), end: at('12:00') }]))
    await account.sync()
  })
  afterAll(() => account?.stop())

  it.each(['Pacific/Auckland', 'America/Los_Angeles', 'Europe/Berlin'])(
    'is in the zone of its host: %s',
    async (zone) => {
      const path = await experienceIn(account, zone)
      expect(await freeHours(account, path, day(ABSENT), zone)).toEqual([])
      expect(await freeHours(account, path, day(ABSENT - 1), zone)).toEqual(ALL_HOURS)
      expect(await freeHours(account, path, day(ABSENT + 1), zone)).toEqual(ALL_HOURS)
      const others = ALL_HOURS.filter((time) => time !== '10:00' && time !== '11:00')
      expect(await freeHours(account, path, day(FLOATING), zone)).toEqual(others)
      const refused = [instant(day(ABSENT), '09:00', zone), instant(day(FLOATING), '11:00', zone)]
      for (const start of refused) expect(await book(account, path, start)).toEqual([409, 'slot_unavailable'])
    },
  )
})
