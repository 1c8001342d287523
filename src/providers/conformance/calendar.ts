import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  CalendarAccount,
  CalendarProvider,
  EventStep,
  EventTime,
  MailAccess,
  RemoteEvent,
  TimeRange,
} from '../contract/index.ts'

/** An event as another program writes it. */
export interface WrittenEvent {
  summary: string
  start: EventTime
  end: EventTime
  /** RRULE lines of a series. */
  recurrence?: string[]
}

/** An account with one empty calendar, and the means of another program to change it. */
export interface CalendarFixture {
  provider: CalendarProvider
  access: MailAccess
  calendarId: string
  /** The calendar's time zone; null where the provider does not say. */
  timeZone: string | null
  /** Creates an event, or replaces the one with this id. Returns the provider's id. */
  write(event: WrittenEvent, eventId?: string): Promise<string>
  /** Changes or cancels the instance of a series that starts at `originalStart`. */
  writeException(masterId: string, originalStart: EventTime, change: WrittenEvent | 'cancelled'): Promise<void>
  remove(eventId: string): Promise<void>
  /** From now on, the provider knows no cursor that it has given. */
  expireCursors(): Promise<void>
  /** From now on, the provider refuses the password or token. */
  refuse(): Promise<void>
  stop(): Promise<void>
}

const WINDOW: TimeRange = { from: Date.parse('2026-10-01T00:00:00Z'), to: Date.parse('2027-10-01T00:00:00Z') }
const at = (dateTime: string): EventTime => ({ dateTime, timeZone: 'Europe/Berlin' })

const LUNCH: WrittenEvent = {
  summary: 'Lunch with Zoë',
  start: at('2026-11-20T12:00:00'),
  end: at('2026-11-20T13:00:00'),
}
const FAIR: WrittenEvent = { summary: 'Fair', start: { date: '2026-12-01' }, end: { date: '2026-12-04' } }
const WEEKLY: WrittenEvent = {
  summary: 'Weekly',
  start: at('2026-11-02T09:00:00'),
  end: at('2026-11-02T09:30:00'),
  recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=MO'],
}

/** Changes that a sync from `cursor` reports, applied in order. */
interface Synced {
  found: Map<string, RemoteEvent>
  removed: Set<string>
  complete: Set<string>
  cursor: string
}

/** The contract of `CalendarProvider`. */
export function calendarConformance(name: string, open: () => Promise<CalendarFixture>): void {
  describe(`${name} implements the contract of calendars`, () => {
    let fixture: CalendarFixture
    let account: CalendarAccount
    const { signal } = new AbortController()
    beforeEach(async () => {
      fixture = await open()
      account = fixture.provider.open(fixture.access)
    })
    afterEach(() => fixture.stop())

    async function sync(cursor: string | null): Promise<Synced> {
      const synced: Synced = { found: new Map(), removed: new Set(), complete: new Set(), cursor: cursor ?? '' }
      const request = { calendarId: fixture.calendarId, cursor, window: WINDOW, signal }
      for await (const step of account.syncEvents(request)) apply(synced, step)
      expect(synced.cursor).not.toBe('')
      expect(synced.cursor.length).toBeLessThan(4096)
      return synced
    }

    const read = (from: string, to: string) =>
      account.readRange({
        calendarId: fixture.calendarId,
        range: { from: Date.parse(from), to: Date.parse(to) },
        expand: false,
        signal,
      })

    it('lists the calendar, and one primary calendar', async () => {
      const calendars = await account.listCalendars(signal)
      expect(calendars.filter(({ primary }) => primary)).toHaveLength(1)
      const calendar = calendars.find(({ calendarId }) => calendarId === fixture.calendarId)
      expect(calendar).toMatchObject({ role: 'owner', timeZone: fixture.timeZone, selected: true })
      expect(calendar?.summary).not.toBe('')
    })

    it('reports every event in the first sync, and nothing when nothing changed', async () => {
      const ids = [await fixture.write(LUNCH), await fixture.write(FAIR), await fixture.write(WEEKLY)]
      const first = await sync(null)
      expect([...first.found.keys()].sort()).toEqual([...ids].sort())
      const [lunch, fair, weekly] = ids.map((id) => first.found.get(id))
      const single = { recurrence: [], recurringEventId: null, originalStart: null, status: 'confirmed', busy: true }
      expect(lunch).toMatchObject({ ...LUNCH, ...single })
      expect(fair).toMatchObject({ ...FAIR, ...single })
      expect(weekly).toMatchObject({ ...WEEKLY, recurrence: [expect.stringMatching(/^RRULE:.*FREQ=WEEKLY/)] })
      expect(lunch?.iCalUid).not.toBe('')
      const second = await sync(first.cursor)
      expect([second.found.size, second.removed.size]).toEqual([0, 0])
    })

    it('reports what was created, changed and deleted since the cursor, and the same again from the same cursor', async () => {
      const [lunch, fair] = [await fixture.write(LUNCH), await fixture.write(FAIR)]
      const { cursor, found } = await sync(null)
      await fixture.write({ ...LUNCH, summary: 'Late lunch', start: at('2026-11-20T12:30:00') }, lunch)
      await fixture.remove(fair)
      const weekly = await fixture.write(WEEKLY)
      const changed = await sync(cursor)
      expect([...changed.found.keys()].sort()).toEqual([lunch, weekly].sort())
      expect(changed.found.get(lunch)).toMatchObject({ summary: 'Late lunch', start: at('2026-11-20T12:30:00') })
      expect(changed.found.get(lunch)?.etag).not.toBe(found.get(lunch)?.etag)
      expect(changed.removed).toContain(fair)
      const again = await sync(cursor)
      expect([...again.found]).toEqual([...changed.found])
      expect([(await sync(changed.cursor)).found.size, (await sync(again.cursor)).found.size]).toEqual([0, 0])
    })

    it('reports changed and cancelled instances of a series with their original start', async () => {
      const weekly = await fixture.write(WEEKLY)
      const { cursor } = await sync(null)
      await fixture.writeException(weekly, at('2026-11-09T09:00:00'), {
        summary: 'On Tuesday',
        start: at('2026-11-10T15:00:00'),
        end: at('2026-11-10T16:00:00'),
      })
      await fixture.writeException(weekly, at('2026-11-16T09:00:00'), 'cancelled')
      for (const { found } of [await sync(cursor), await sync(null)]) {
        const exceptions = [...found.values()].filter(({ recurringEventId }) => recurringEventId === weekly)
        const [moved, cancelled] = exceptions.sort((left, right) => originalStartMs(left) - originalStartMs(right))
        expect(exceptions).toHaveLength(2)
        expect(moved).toMatchObject({ summary: 'On Tuesday', start: at('2026-11-10T15:00:00'), recurrence: [] })
        expect(originalStartMs(moved)).toBe(Date.parse('2026-11-09T08:00:00Z'))
        expect(cancelled).toMatchObject({ status: 'cancelled', recurringEventId: weekly })
        expect(originalStartMs(cancelled)).toBe(Date.parse('2026-11-16T08:00:00Z'))
      }
    })

    it('refuses an expired cursor with cursor_expired, and reads everything again without one', async () => {
      const lunch = await fixture.write(LUNCH)
      const { cursor } = await sync(null)
      await fixture.expireCursors()
      const fair = await fixture.write(FAIR)
      await expect(sync(cursor)).rejects.toMatchObject({ name: 'ProviderError', kind: 'cursor_expired' })
      const again = await sync(null)
      expect([...again.found.keys()].sort()).toEqual([lunch, fair].sort())
      expect((await sync(again.cursor)).found.size).toBe(0)
    })

    it('reads what overlaps a range: series that began before it, and nothing outside of it', async () => {
      await fixture.write(LUNCH)
      const fair = await fixture.write(FAIR)
      const weekly = await fixture.write(WEEKLY)
      const inRange = await read('2026-12-03T00:00:00Z', '2026-12-15T00:00:00Z')
      expect(inRange.map(({ eventId }) => eventId).sort()).toEqual([fair, weekly].sort())
      const { found } = await sync(null)
      expect(inRange.find(({ eventId }) => eventId === weekly)).toEqual(found.get(weekly))
      expect(await read('2026-09-01T00:00:00Z', '2026-09-02T00:00:00Z')).toEqual([])
    })

    it('fails with not_found, auth_expired, and the reason of the signal', async () => {
      const request = { calendarId: fixture.calendarId, cursor: null, window: WINDOW, signal }
      const drainSync = async (changes: Partial<typeof request>) => {
        for await (const _step of account.syncEvents({ ...request, ...changes }));
      }
      const unknown = `${fixture.calendarId.replace(/\/$/, '')}x${fixture.calendarId.endsWith('/') ? '/' : ''}`
      await expect(drainSync({ calendarId: unknown })).rejects.toMatchObject({ kind: 'not_found' })
      const reason = new Error('stopped')
      await expect(drainSync({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      await fixture.refuse()
      await expect(drainSync({})).rejects.toMatchObject({ name: 'ProviderError', kind: 'auth_expired' })
      await expect(account.listCalendars(signal)).rejects.toMatchObject({ kind: 'auth_expired' })
    })
  })
}

function apply(synced: Synced, { found, entered, complete, removed, cursor }: EventStep): void {
  synced.cursor = cursor
  for (const event of [...found, ...entered]) {
    if (event.status === 'cancelled' && event.recurringEventId === null) synced.removed.add(event.eventId)
    else synced.found.set(event.eventId, event)
  }
  for (const id of complete) synced.complete.add(id)
  for (const id of removed) {
    synced.removed.add(id)
    synced.found.delete(id)
  }
}

/** The original start, in UTC; Google and Graph give it in other zones than the series. */
function originalStartMs(event: RemoteEvent | undefined): number {
  const time = event?.originalStart
  if (time === null || time === undefined || 'date' in time) return Number.NaN
  const offset = time.timeZone === 'Europe/Berlin' ? '+01:00' : 'Z'
  return Date.parse(`${time.dateTime}${offset}`)
}
