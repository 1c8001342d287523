import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type MicrosoftCalendarFixture, microsoftCalendars } from '../../../../test/servers/microsoft-calendars.ts'
import type { RemoteEvent, UnreadableEvent } from '../../contract/index.ts'

const signal = new AbortController().signal
const window = { from: Date.UTC(2026, 9, 20), to: Date.UTC(2027, 10, 20) }
const atMidnight = (date: string) => ({ dateTime: `${date}T00:00:00`, timeZone: 'UTC' })
/** Two occurrences, from midnight to midnight in UTC. */
const DAILY = {
  start: atMidnight('2026-11-23'),
  end: atMidnight('2026-11-24'),
  recurrence: {
    pattern: { type: 'daily' as const, interval: 1 },
    range: { type: 'endDate' as const, startDate: '2026-11-23', endDate: '2026-11-24' },
  },
}
const DAYS = {
  start: { date: '2026-11-23' },
  end: { date: '2026-11-24' },
  recurrence: ['RDATE;VALUE=DATE:20261123,20261124'],
}
const TIMES = {
  start: { dateTime: '2026-11-23T00:00:00', timeZone: 'UTC' },
  end: { dateTime: '2026-11-24T00:00:00', timeZone: 'UTC' },
  recurrence: ['RDATE;VALUE=PERIOD:20261123T000000Z/20261124T000000Z,20261124T000000Z/20261125T000000Z'],
}
/** The master only: its occurrences can be read. */
const MASTER = /events\/refused-\d+\?/
const MASTER_AND_OCCURRENCES = /events\/refused-\d+\b/

describe('in place of a series that Graph does not return', () => {
  let fixture: MicrosoftCalendarFixture
  let series = 0
  beforeAll(async () => {
    fixture = await microsoftCalendars()
  })
  afterEach(() => fixture.graph.faults.clear())
  afterAll(() => fixture.stop())

  function addRefused(event: object, on: RegExp): { calendarId: string; eventId: string } {
    const { graph, user } = fixture
    series += 1
    const [calendarId, id] = [`calendar-${series}`, `refused-${series}`]
    graph.calendars.add(user, { id: calendarId })
    graph.fail({ as: 'server-error', on, times: Number.POSITIVE_INFINITY })
    return { calendarId, eventId: graph.calendars.put(user, calendarId, { ...DAILY, ...event, id }) }
  }

  async function syncPlaceholder(calendarId: string, timeZone: string | null = null): Promise<RemoteEvent | undefined> {
    const request = { calendarId, timeZone, cursor: null, window, signal }
    const unreadable: UnreadableEvent[] = []
    for await (const step of fixture.account.syncEvents(request)) unreadable.push(...(step.unreadable ?? []))
    return unreadable[0]?.placeholder
  }

  it('takes 24 hours from midnight in UTC for times, unless an occurrence is all-day', async () => {
    const timed = addRefused({}, MASTER)
    expect(await syncPlaceholder(timed.calendarId, 'Europe/Berlin')).toMatchObject({ ...TIMES, busy: true })
    const allDay = addRefused({ isAllDay: true }, MASTER)
    expect(await syncPlaceholder(allDay.calendarId, 'Europe/Berlin')).toMatchObject({ ...DAYS, busy: true })
  })

  it('is free when an occurrence that was read is free', async () => {
    const { calendarId } = addRefused({ isAllDay: true, showAs: 'free' }, MASTER)
    expect(await syncPlaceholder(calendarId)).toMatchObject({ ...DAYS, busy: false })
  })

  it('is busy in the hours and in the days when Graph refuses the occurrence, too', async () => {
    const { calendarId } = addRefused({ showAs: 'free' }, MASTER_AND_OCCURRENCES)
    expect(await syncPlaceholder(calendarId, 'Europe/Berlin')).toMatchObject({
      recurrence: ['RDATE;VALUE=PERIOD:20261122T230000Z/20261124T000000Z,20261123T230000Z/20261125T000000Z'],
      busy: true,
    })
    expect(await syncPlaceholder(calendarId, 'America/New_York')).toMatchObject({
      recurrence: ['RDATE;VALUE=PERIOD:20261123T000000Z/20261124T050000Z,20261124T000000Z/20261125T050000Z'],
    })
    // Anywhere from UTC-12 to UTC+14.
    expect(await syncPlaceholder(calendarId, null)).toMatchObject({
      recurrence: ['RDATE;VALUE=PERIOD:20261122T100000Z/20261124T120000Z,20261123T100000Z/20261125T120000Z'],
    })
  })

  it('reads no occurrence of a series whose hours are no days', async () => {
    const end = { dateTime: '2026-11-23T09:00:00', timeZone: 'UTC' }
    const { calendarId, eventId } = addRefused({ end }, MASTER)
    expect(await syncPlaceholder(calendarId)).toMatchObject({ start: TIMES.start, end })
    const paths = fixture.graph.calls.matching({ part: true }).map(({ path }) => path)
    expect(paths.filter((path) => path.includes(`/${eventId}?`))).not.toEqual([])
    expect(paths.filter((path) => path.includes(`/${eventId}.`))).toEqual([])
  })

  it('reads whether occurrences are all-day from a live list', async () => {
    const { calendarId, eventId } = addRefused({ isAllDay: true }, MASTER_AND_OCCURRENCES)
    const range = { from: Date.UTC(2026, 10, 22), to: Date.UTC(2026, 11, 1) }
    const events = await fixture.account.readRange({ calendarId, range, expand: false, signal })
    expect(events).toMatchObject([{ eventId, ...DAYS, busy: true }])
  })
})
