import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MicrosoftCalendarFixture, microsoftCalendars } from '../../../../test/servers/microsoft-calendars.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { EventStep, RemoteEvent } from '../../contract/index.ts'

const signal = new AbortController().signal
const window = { from: Date.UTC(2026, 9, 20), to: Date.UTC(2027, 10, 20) }
const ZONE = 'Europe/Berlin'
const at = (dateTime: string) => ({ dateTime, timeZone: ZONE })
const hour = (day: string) => ({
  start: at(`${day}T09:00:00`),
  end: at(`${day}T09:30:00`),
  originalStartTimeZone: 'W. Europe Standard Time',
})
const weekly = (startDate: string) => ({
  pattern: { type: 'weekly' as const, interval: 1, daysOfWeek: ['monday'], firstDayOfWeek: 'sunday' },
  range: { type: 'noEnd' as const, startDate, recurrenceTimeZone: 'W. Europe Standard Time' },
})

describe('Outlook calendars', () => {
  let fixture: MicrosoftCalendarFixture
  let nowMs = Date.UTC(2026, 10, 20)
  let calendars = 0
  beforeAll(async () => {
    fixture = await microsoftCalendars({ rangeEvents: 150, clock: { ...systemClock, now: () => nowMs } })
  })
  afterAll(() => fixture.stop())

  function newCalendar(): string {
    calendars += 1
    fixture.graph.calendars.add(fixture.user, { id: `calendar-${calendars}` })
    return `calendar-${calendars}`
  }

  async function sync(calendarId: string, cursor: string | null, range = window, again: string[] = []) {
    const steps: EventStep[] = []
    const request = { calendarId, cursor, window: range, again, signal }
    for await (const step of fixture.account.syncEvents(request)) steps.push(step)
    const ids = (list: 'found' | 'entered') => steps.flatMap((step) => step[list]).map(({ eventId }) => eventId)
    return {
      steps,
      events: steps.flatMap(({ found }) => found),
      found: ids('found').sort(),
      entered: ids('entered').sort(),
      complete: steps.flatMap(({ complete }) => complete),
      removed: steps.flatMap(({ removed }) => removed),
      unreadable: steps.flatMap(({ unreadable = [] }) => unreadable),
      cursor: steps.at(-1)?.cursor ?? cursor,
    }
  }

  it('lists every calendar over several pages', async () => {
    const { graph, user, account, stop } = await microsoftCalendars()
    for (let count = 0; count < 120; count += 1) graph.calendars.add(user, { id: `c${count}`, canEdit: false })
    const listed = await account.listCalendars(signal)
    expect(listed).toHaveLength(121)
    expect(listed[0]).toMatchObject({ calendarId: 'calendar', primary: true, role: 'owner', timeZone: 'Europe/Berlin' })
    await stop()
  })

  it('syncs series with their exceptions and cancelled instances, then only what changed', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    const put = (id: string, event: object) =>
      graph.calendars.put(user, calendar, { ...hour('2026-11-23'), id, ...event })
    put('single', {})
    put('past', hour('2024-11-20'))
    put('weekly', { ...hour('2025-01-06'), recurrence: weekly('2025-01-06') })
    const exception = graph.calendars.putException(user, 'weekly', '2026-11-30', hour('2026-12-01'))
    graph.calendars.cancelOccurrence(user, 'weekly', '2026-12-07')

    const first = await sync(calendar, null)
    const cancelled = 'OID.weekly.2026-12-07'
    expect(first).toMatchObject({
      found: [cancelled, 'single', 'weekly', exception],
      complete: ['weekly'],
      removed: [],
    })
    expect(first.events.find(({ eventId }) => eventId === 'weekly')?.recurrence).toEqual([
      'RRULE:FREQ=WEEKLY;BYDAY=MO;WKST=SU',
    ])
    expect(first.events.find(({ eventId }) => eventId === cancelled)).toMatchObject({
      status: 'cancelled',
      recurringEventId: 'weekly',
      originalStart: { dateTime: '2026-12-07T09:00:00' },
    })
    expect(first.events.find(({ eventId }) => eventId === exception)).toMatchObject({
      recurringEventId: 'weekly',
      originalStart: { dateTime: '2026-11-30T09:00:00', timeZone: ZONE },
      start: { dateTime: '2026-12-01T09:00:00', timeZone: ZONE },
    })
    expect((await sync(calendar, first.cursor)).steps).toEqual([])

    // Neither leaves a trace in the delta query but the changed series.
    graph.calendars.cancelOccurrence(user, 'weekly', '2026-12-14')
    graph.calendars.resetException(user, 'weekly', '2026-11-30')
    const second = await sync(calendar, first.cursor)
    const found = [cancelled, 'OID.weekly.2026-12-14', 'weekly']
    expect(second).toMatchObject({ found, complete: ['weekly'], removed: [] })

    graph.calendars.delete(user, 'single')
    graph.calendars.delete(user, 'weekly')
    const third = await sync(calendar, second.cursor)
    expect(third).toMatchObject({ found: [], removed: ['single', 'weekly'] })
    expect((await sync(calendar, third.cursor)).steps).toEqual([])
  })

  it('passes a series that Graph does not return, with the hours that it knows, and reads it again', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    const put = (id: string, event: object) =>
      graph.calendars.put(user, calendar, { ...hour('2026-11-23'), id, ...event })
    const range = { type: 'endDate' as const, startDate: '2026-11-23', endDate: '2026-12-01' }
    put('refused', { recurrence: { ...weekly('2026-11-23'), range } })
    put('good', { recurrence: weekly('2026-11-23') })
    put('single', {})
    graph.fail({ as: 'server-error', on: /events\/refused\b/, times: Number.POSITIVE_INFINITY })
    const first = await sync(calendar, null)
    expect(first.found).toEqual(['good', 'single'])
    expect(first.unreadable).toMatchObject([
      {
        eventId: 'refused',
        isRefused: true,
        placeholder: {
          eventId: 'refused',
          busy: true,
          timesOnly: true,
          recurringEventId: null,
          start: { dateTime: '2026-11-23T08:00:00', timeZone: 'UTC' },
          end: { dateTime: '2026-11-23T08:30:00', timeZone: 'UTC' },
          recurrence: ['RDATE;VALUE=PERIOD:20261123T080000Z/20261123T083000Z,20261130T080000Z/20261130T083000Z'],
        },
      },
    ])
    expect((await sync(calendar, first.cursor)).steps).toEqual([])
    const refused = await sync(calendar, first.cursor, window, ['refused'])
    expect(refused).toMatchObject({ found: [], removed: [], unreadable: [{ eventId: 'refused', isRefused: true }] })

    graph.calendars.delete(user, 'refused')
    put('single', { subject: 'changed' })
    const left = await sync(calendar, refused.cursor)
    expect(left).toMatchObject({ found: ['single'], removed: [], unreadable: [{ eventId: 'refused' }] })
    graph.faults.clear()
    put('late', { recurrence: weekly('2026-11-23') })
    const read = await sync(calendar, left.cursor, window, ['refused', 'good'])
    expect(read).toMatchObject({ found: ['good', 'late'], removed: ['refused'], unreadable: [] })
  })

  it('reads the changes of a calendar although all known failures fail again', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    const { cursor } = await sync(calendar, null)
    const put = (id: string, event: object) =>
      graph.calendars.put(user, calendar, { ...hour('2026-11-23'), id, ...event })
    const ids = Array.from({ length: 6 }, (_, count) => `refused-${count}`)
    for (const id of ids) put(id, { recurrence: weekly('2026-11-23') })
    put('single', {})
    for (const on of [/events\/refused-\d/, /events\/refused-\d.*exceptionOccurrences/]) {
      graph.fail({ as: 'server-error', on, times: Number.POSITIVE_INFINITY })
      const read = await sync(calendar, cursor, window, ids)
      expect(read.found).toEqual(['single'])
      expect(new Set(read.unreadable.map(({ eventId }) => eventId))).toEqual(new Set(ids))
      graph.faults.clear()
    }
  })

  it('shows in a live list what is known of a series that Graph does not return, beside the others', async () => {
    const { graph, user, account } = fixture
    const calendarId = newCalendar()
    const recurrence = weekly('2026-11-23')
    const put = (id: string) => graph.calendars.put(user, calendarId, { ...hour('2026-11-23'), id, recurrence })
    put('listed')
    put('unlisted')
    const exception = graph.calendars.putException(user, 'unlisted', '2026-11-30', hour('2026-12-01'))
    graph.fail({ as: 'server-error', on: /events\/unlisted\b/, times: Number.POSITIVE_INFINITY })
    const read = async (range: { from: number; to: number }) => {
      const events = await account.readRange({ calendarId, range, expand: false, signal })
      return new Map(events.map((event) => [event.eventId, event]))
    }
    try {
      const viewed = await read({ from: Date.UTC(2026, 10, 22), to: Date.UTC(2026, 11, 9) })
      expect(new Set(viewed.keys())).toEqual(new Set(['listed', 'unlisted', exception]))
      expect(viewed.get('unlisted')).toMatchObject({
        timesOnly: true,
        recurrence: ['RDATE;VALUE=PERIOD:20261123T080000Z/20261123T083000Z,20261207T080000Z/20261207T083000Z'],
      })
      expect(viewed.get(exception)).toMatchObject({
        recurringEventId: 'unlisted',
        start: at('2026-12-01T09:00:00'),
      })
      // Without an end, Graph lists the master.
      const listed = await read({ from: window.from, to: Number.POSITIVE_INFINITY })
      expect(listed.get('listed')).toBeDefined()
      expect(listed.get('unlisted')?.recurrence).toEqual(['RRULE:FREQ=WEEKLY;BYDAY=MO;WKST=SU'])
    } finally {
      graph.faults.clear()
    }
  })

  it('does not leave a series out of a live list when none of its times is known', async () => {
    const { graph, user, account } = fixture
    const calendarId = newCalendar()
    const yearly = {
      pattern: { type: 'absoluteYearly' as const, interval: 1, dayOfMonth: 5, month: 3 },
      range: { type: 'noEnd' as const, startDate: '2020-03-05' },
    }
    graph.calendars.put(user, calendarId, { ...hour('2020-03-05'), id: 'unlisted-yearly', recurrence: yearly })
    graph.fail({ as: 'server-error', on: /events\/unlisted-yearly\b/, times: Number.POSITIVE_INFINITY })
    const range = { from: window.from, to: Number.POSITIVE_INFINITY }
    const read = account.readRange({ calendarId, range, expand: false, signal })
    await expect(read).rejects.toMatchObject({ kind: 'unavailable' })
    graph.faults.clear()
  })

  it('distinguishes an event that left the view from one that was deleted or moved to another calendar', async () => {
    const { graph, user } = fixture
    const [calendar, other] = [newCalendar(), newCalendar()]
    const put = (id: string, event: object) =>
      graph.calendars.put(user, calendar, { id, ...hour('2026-11-23'), ...event })
    for (const id of ['postponed', 'deleted', 'moved', 'called-off']) put(id, {})
    put('ended', { recurrence: weekly('2026-11-23') })
    const { cursor } = await sync(calendar, null)
    put('postponed', hour('2029-11-23'))
    put('called-off', { isCancelled: true })
    const range = { type: 'endDate' as const, startDate: '2024-01-01', endDate: '2024-03-01' }
    put('ended', { ...hour('2024-01-01'), recurrence: { ...weekly('2024-01-01'), range } })
    graph.calendars.delete(user, 'deleted')
    graph.calendars.move(user, 'moved', other)
    const changes = await sync(calendar, cursor)
    expect(changes.found).toEqual(['ended', 'postponed'])
    expect(changes.removed.sort()).toEqual(['called-off', 'deleted', 'moved'])
  })

  it('reads an exception whose series the calendar does not have', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    const instance = { type: 'exception', seriesMasterId: 'elsewhere', originalStart: '2026-11-23T08:00:00Z' }
    graph.calendars.put(user, calendar, { id: 'invited', ...hour('2026-11-24'), ...instance })
    const { events, complete } = await sync(calendar, null)
    expect(complete).toEqual([])
    expect(events).toMatchObject([
      { eventId: 'invited', recurringEventId: 'elsewhere', originalStart: { dateTime: '2026-11-23T09:00:00' } },
    ])
  })

  it('continues in the middle of a listing', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    const ids = Array.from({ length: 250 }, (_, count) => `${calendar}-${String(count).padStart(3, '0')}`)
    for (const id of ids) graph.calendars.put(user, calendar, { id, ...hour('2026-11-20') })
    const whole = await sync(calendar, null)
    expect(whole.steps.map(({ found }) => found.length)).toEqual([100, 100, 50])
    const rest = await sync(calendar, whole.steps[0]?.cursor ?? '')
    expect(rest.found).toEqual(ids.slice(100))
    expect((await sync(calendar, rest.cursor)).steps).toEqual([])
  })

  it('never splits a series, and moves the cursor only after all steps of a page', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    for (const id of [`${calendar}-1`, `${calendar}-2`]) {
      const range = { type: 'noEnd' as const, startDate: '2026-11-20' }
      const recurrence = { pattern: { type: 'daily' as const, interval: 1 }, range }
      graph.calendars.put(user, calendar, { id, ...hour('2026-11-20'), recurrence })
      for (let day = 0; day < 260; day += 1) {
        const date = new Date(Date.UTC(2026, 10, 20 + day)).toISOString().slice(0, 10)
        graph.calendars.putException(user, id, date, { subject: 'Other' })
      }
    }
    const { steps } = await sync(calendar, null, { from: window.from, to: window.from + 1 })
    expect(steps.map(({ found }) => found.length)).toEqual([261, 261, 261])
    // The second page continues the second series.
    const isFirstRequest = ({ cursor }: EventStep) => cursor.includes('startDateTime')
    expect(steps.map(isFirstRequest)).toEqual([true, false, false])
  })

  it('lists what enters when the window has moved far, and finds what is new', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    const created = { createdDateTime: '2026-01-01T00:00:00Z' }
    graph.calendars.put(user, calendar, { id: 'far', ...hour('2028-03-01'), ...created })
    const { cursor } = await sync(calendar, null)
    const day = 86_400_000
    expect((await sync(calendar, cursor, { from: window.from + day, to: window.to + day })).steps).toEqual([])
    const later = { from: window.from + 120 * day, to: window.to + 120 * day }
    const fresh = { createdDateTime: new Date(nowMs).toISOString() }
    graph.calendars.put(user, calendar, { id: 'fresh', ...hour('2028-03-02'), ...fresh })
    const moved = await sync(calendar, cursor, later)
    expect(moved).toMatchObject({ entered: ['far'], removed: [] })
    expect(new Set(moved.found)).toEqual(new Set(['fresh']))
    expect((await sync(calendar, moved.cursor, later)).steps).toEqual([])
  })

  it('renews the cursor of an unchanged calendar once a day', async () => {
    const calendar = newCalendar()
    const { cursor } = await sync(calendar, null)
    nowMs += 25 * 3_600_000
    const renewed = await sync(calendar, cursor)
    expect(renewed.steps).toMatchObject([{ found: [], removed: [] }])
    expect((await sync(calendar, renewed.cursor)).steps).toEqual([])
  })

  it('reports an expired or unreadable cursor, and a deleted calendar', async () => {
    const { graph, user } = fixture
    const calendar = newCalendar()
    const { cursor } = await sync(calendar, null)
    graph.calendars.expireDelta(user)
    await expect(sync(calendar, cursor)).rejects.toMatchObject({ kind: 'cursor_expired' })
    await expect(sync(calendar, '{"v":2}')).rejects.toMatchObject({ kind: 'cursor_expired' })
    await expect(sync('unknown', null)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('reads a calendar of which only small pages can be served', async () => {
    const { graph, user, account } = fixture
    const calendarId = newCalendar()
    for (let n = 0; n < 25; n += 1)
      graph.calendars.put(user, calendarId, { id: `${calendarId}-${n}`, ...hour('2026-11-20') })
    graph.limitPages(user, 10, 503)
    try {
      expect((await sync(calendarId, null)).found).toHaveLength(25)
      expect(await account.readRange({ calendarId, range: window, expand: true, signal })).toHaveLength(25)
    } finally {
      graph.limitPages(user, 1000)
    }
  })

  it('refuses a link to another host', async () => {
    const calendar = newCalendar()
    fixture.graph.fail({ as: 'foreign-link', on: /calendarView\/delta/ })
    await expect(sync(calendar, null)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('reads a series whose zone Graph does not name in the zone of the calendar', async () => {
    const { graph, user, account } = fixture
    const calendarId = newCalendar()
    const { pattern, range } = weekly('2026-11-23')
    graph.calendars.put(user, calendarId, {
      ...hour('2026-11-23'),
      originalStartTimeZone: 'Customized Time Zone',
      originalEndTimeZone: 'Customized Time Zone',
      recurrence: { pattern, range: { ...range, recurrenceTimeZone: 'Customized Time Zone' } },
    })
    const start = at('2026-11-23T09:00:00')
    const zoned = { calendarId, timeZone: ZONE, signal }
    for await (const { found } of account.syncEvents({ ...zoned, cursor: null, window })) {
      expect(found).toMatchObject([{ start }])
    }
    expect(await account.readRange({ ...zoned, range: window, expand: false })).toMatchObject([{ start }])
  })

  it('reads a range as masters, or expanded by Graph', async () => {
    const { graph, user, account } = fixture
    const calendarId = newCalendar()
    const put = (id: string, event: object) =>
      graph.calendars.put(user, calendarId, { id, ...hour('2030-03-05'), ...event })
    put('one', { body: { content: 'Words' } })
    put('off', { isCancelled: true })
    put('series', { ...hour('2020-01-06'), recurrence: weekly('2020-01-06') })
    const exception = graph.calendars.putException(user, 'series', '2030-03-11', hour('2030-03-12'))
    graph.calendars.cancelOccurrence(user, 'series', '2030-03-18')
    const range = { from: Date.UTC(2030, 2, 1), to: Date.UTC(2030, 2, 31) }
    const ids = (events: RemoteEvent[]) => events.map(({ eventId }) => eventId).sort()
    const expanded = await account.readRange({ calendarId, range, expand: true, signal })
    expect(ids(expanded)).toEqual(['one', 'series.2030-03-04', 'series.2030-03-25', exception])
    expect(expanded.find(({ eventId }) => eventId === 'one')?.description).toBe('Words')
    expect(expanded.find(({ eventId }) => eventId === exception)).toMatchObject({
      recurringEventId: 'series',
      originalStart: { dateTime: '2030-03-11T09:00:00', timeZone: ZONE },
    })
    const masters = await account.readRange({ calendarId, range, expand: false, signal })
    expect(ids(masters)).toEqual(['OID.series.2030-03-18', 'one', 'series', exception])

    const daily = { pattern: { type: 'daily', interval: 1 }, range: { type: 'noEnd', startDate: '2030-01-01' } }
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f'])
      put(`${calendarId}${id}`, { ...hour('2030-01-01'), recurrence: daily })
    const read = account.readRange({ calendarId, range, expand: true, signal })
    await expect(read).rejects.toMatchObject({ kind: 'limit_exceeded' })
  })
})
