import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GoogleCalendarFixture, googleCalendars } from '../../../../test/servers/google-calendars.ts'
import type { EventStep, RemoteEvent } from '../../contract/index.ts'

const signal = new AbortController().signal
const window = { from: Date.UTC(2026, 9, 20), to: Date.UTC(2027, 10, 20) }
const ZONE = 'Europe/Berlin'
const at = (dateTime: string) => ({ dateTime, timeZone: ZONE })
const hour = (day: string, begin = '09') => ({ start: at(`${day}T${begin}:00:00`), end: at(`${day}T${begin}:30:00`) })

describe('Google Calendar', () => {
  let fixture: GoogleCalendarFixture
  let calendars = 0
  beforeAll(async () => {
    fixture = await googleCalendars({ rangeEvents: 150 })
  })
  afterAll(() => fixture.stop())

  function newCalendar(): string {
    calendars += 1
    const id = `calendar-${calendars}@group.calendar.google.com`
    fixture.google.calendars.add(fixture.user, { id, summary: 'Team' })
    return id
  }

  async function sync(calendarId: string, cursor: string | null, range = window) {
    const steps: EventStep[] = []
    const request = { calendarId, cursor, window: range, signal }
    for await (const step of fixture.account.syncEvents(request)) steps.push(step)
    const all = (list: 'found' | 'entered') => steps.flatMap((step) => step[list]).map(({ eventId }) => eventId)
    return {
      steps,
      found: all('found').sort(),
      entered: all('entered').sort(),
      removed: steps.flatMap(({ removed }) => removed),
      cursor: steps.at(-1)?.cursor ?? cursor,
    }
  }

  it('lists every calendar over several pages, but no hidden one', async () => {
    const { google, stop, user, account } = await googleCalendars()
    for (let count = 0; count < 300; count += 1) google.calendars.add(user, { id: `c${count}`, hidden: count === 7 })
    const listed = await account.listCalendars(signal)
    expect(listed).toHaveLength(300)
    expect(listed[0]).toMatchObject({ calendarId: user, primary: true, role: 'owner', timeZone: ZONE })
    google.calendars.withhold(user)
    expect(await account.listCalendars(signal)).toEqual([])
    await stop()
  })

  it('syncs masters and exceptions, then only what changed', async () => {
    const { google, user } = fixture
    const calendar = newCalendar()
    const put = (event: object) => google.calendars.put(user, calendar, event)
    put({ id: 'single', ...hour('2026-11-20') })
    put({ id: 'past', ...hour('2024-11-20') })
    put({ id: 'later', ...hour('2029-11-20') })
    put({ id: 'weekly', ...hour('2025-01-06'), recurrence: ['RRULE:FREQ=WEEKLY'] })
    google.calendars.cancel(user, calendar, 'weekly_20261123T080000Z')

    const first = await sync(calendar, null)
    expect(first.found).toEqual(['later', 'single', 'weekly', 'weekly_20261123T080000Z'])
    expect(first.steps.flatMap(({ found }) => found).find(({ status }) => status === 'cancelled')).toMatchObject({
      recurringEventId: 'weekly',
      originalStart: { dateTime: '2026-11-23T09:00:00', timeZone: ZONE },
    })
    expect(await sync(calendar, first.cursor)).toMatchObject({ steps: [], removed: [] })

    put({ id: 'single', ...hour('2026-11-21') })
    put({
      id: 'weekly_20261130T080000Z',
      recurringEventId: 'weekly',
      ...hour('2026-12-01'),
      originalStartTime: at('2026-11-30T09:00:00'),
    })
    google.calendars.cancel(user, calendar, 'later')
    const second = await sync(calendar, first.cursor)
    expect(second).toMatchObject({ found: ['single', 'weekly_20261130T080000Z'], entered: [], removed: ['later'] })
    expect((await sync(calendar, second.cursor)).steps).toEqual([])
  })

  it('continues a listing and a round of changes in the middle', async () => {
    const { google, user } = fixture
    const calendar = newCalendar()
    const ids = Array.from({ length: 250 }, (_, count) => `e${String(count).padStart(3, '0')}`)
    const putAll = (day: string) => {
      for (const id of ids) google.calendars.put(user, calendar, { id, ...hour(day) })
    }
    putAll('2026-11-20')
    const whole = await sync(calendar, null)
    expect(whole.steps.map(({ found }) => found.length)).toEqual([100, 100, 50])
    const rest = await sync(calendar, whole.steps[0]?.cursor ?? '')
    expect(rest.found).toEqual(ids.slice(100))
    // A change during the listing is in the changes that follow.
    google.calendars.put(user, calendar, { id: 'e000', ...hour('2026-11-22') })
    expect((await sync(calendar, rest.cursor)).found).toEqual(['e000'])

    putAll('2026-11-23')
    const changes = await sync(calendar, whole.cursor)
    expect(changes.steps.map(({ found }) => found.length)).toEqual([100, 100, 50])
    expect((await sync(calendar, changes.steps[1]?.cursor ?? '')).found).toEqual(ids.slice(200))
  })

  it('begins a listing again when its page token expired', async () => {
    const { google, user } = fixture
    const calendar = newCalendar()
    google.calendars.put(user, calendar, { id: 'one', ...hour('2026-11-20') })
    const cursor = JSON.stringify({ from: 0, listing: { page: 'expired', since: null } })
    expect((await sync(calendar, cursor)).found).toEqual(['one'])
  })

  it('reports an expired or unreadable cursor', async () => {
    const { google, user } = fixture
    const calendar = newCalendar()
    const { cursor } = await sync(calendar, null)
    google.calendars.expireSyncTokens(user)
    await expect(sync(calendar, cursor)).rejects.toMatchObject({ kind: 'cursor_expired' })
    await expect(sync(calendar, '{}')).rejects.toMatchObject({ kind: 'cursor_expired' })
    const invalid = JSON.stringify({ from: 0, token: 'invalid' })
    await expect(sync(calendar, invalid)).rejects.toMatchObject({ kind: 'cursor_expired' })
    await expect(sync('unknown@group.calendar.google.com', null)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('lists again when the window begins earlier: old events enter, new ones are found', async () => {
    const { google, user } = fixture
    const calendar = newCalendar()
    const { cursor } = await sync(calendar, null)
    const old = { ...hour('2025-11-20'), created: '2025-11-01T08:00:00.000Z' }
    google.calendars.put(user, calendar, { id: 'old', ...old })
    google.calendars.put(user, calendar, { id: 'new', ...hour('2025-11-21'), created: new Date().toISOString() })
    const stored = await sync(calendar, cursor)
    const earlier = { from: Date.UTC(2025, 9, 20), to: window.to }
    const { found, entered, cursor: moved } = await sync(calendar, stored.cursor, earlier)
    expect({ found, entered }).toEqual({ found: ['new'], entered: ['old'] })
    expect((await sync(calendar, moved, earlier)).steps).toEqual([])
  })

  it('reads a range as masters, or expanded by Google', async () => {
    const { google, user, account } = fixture
    const calendarId = newCalendar()
    const put = (event: object) => google.calendars.put(user, calendarId, event)
    put({ id: 'daily', ...hour('2020-01-01'), recurrence: ['RRULE:FREQ=DAILY'] })
    google.calendars.cancel(user, calendarId, 'daily_20300302T080000Z')
    put({ id: 'instant', start: at('2030-03-01T01:00:00'), end: at('2030-03-01T01:00:00') })
    put({ id: 'before', ...hour('2030-02-28', '08') })
    const range = { from: Date.UTC(2030, 2, 1), to: Date.UTC(2030, 2, 4) }
    const ids = (events: RemoteEvent[]) => events.map(({ eventId }) => eventId).sort()
    google.calls.clear()
    const expanded = await account.readRange({ calendarId, range, expand: true, signal })
    expect(ids(expanded)).toEqual(['daily_20300301T080000Z', 'daily_20300303T080000Z', 'instant'])
    expect(expanded[0]).toMatchObject({ recurringEventId: 'daily', recurrence: [], originalStart: expanded[0]?.start })
    expect(google.calls.all[0]?.path).toContain('singleEvents=true')
    const masters = await account.readRange({ calendarId, range, expand: false, signal })
    expect(ids(masters)).toEqual(['daily', 'daily_20300302T080000Z', 'instant'])
  })

  it('refuses a range of too many events', async () => {
    const { google, user, account } = fixture
    const calendarId = newCalendar()
    google.calendars.put(user, calendarId, {
      id: 'often',
      recurrence: ['RRULE:FREQ=MINUTELY;COUNT=160'],
      start: at('2030-03-01T00:00:00'),
      end: at('2030-03-01T00:00:00'),
    })
    const range = { from: Date.UTC(2030, 1, 28), to: Date.UTC(2030, 2, 2) }
    const read = account.readRange({ calendarId, range, expand: true, signal })
    await expect(read).rejects.toMatchObject({ kind: 'limit_exceeded' })
  })

  it('reads the times of a calendar that shows nothing else', async () => {
    const { google, user } = fixture
    const calendar = 'bob@gmail.test'
    google.calendars.add(user, { id: calendar, accessRole: 'freeBusyReader' })
    google.calendars.put(user, calendar, { id: 'secret', summary: 'Secret', ...hour('2026-11-20') })
    const { steps } = await sync(calendar, null)
    expect(steps[0]?.found[0]).toMatchObject({ summary: '', visibility: 'private', busy: true })
  })

  it('names the missing scope', async () => {
    const { account, stop } = await googleCalendars({}, ['https://mail.google.com/'])
    await expect(account.listCalendars(signal)).rejects.toMatchObject({
      kind: 'rejected',
      missingScope: true,
      message: expect.stringContaining('calendar.readonly'),
    })
    await stop()
  })
})
