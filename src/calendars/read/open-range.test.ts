import { expect, it } from 'vitest'
import { storeCalendar } from '../../../test/kit/calendars/stored-calendar.ts'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { random as randomNumbers } from '../../../test/kit/random/random.ts'
import { formatLocal } from '../../platform/calendar/days.ts'
import { boundedEvent, type CalendarAccount, ProviderError, type RemoteEvent } from '../../providers/contract/index.ts'
import { calendarStore } from '../store.ts'
import { readOpenRange, readOpenRangeByChange } from './open-range.ts'
import { listPosition, type Position } from './range.ts'

const NOW = Date.UTC(2026, 10, 20)
const EVENTS = 300
const MOST = 40
const EVERYTHING = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

function eventAt(eventId: string, startMs: number): RemoteEvent {
  const time = (ms: number) => ({ dateTime: formatLocal(ms), timeZone: 'UTC' })
  return boundedEvent({
    eventId,
    iCalUid: eventId,
    etag: null,
    status: 'confirmed',
    summary: '',
    description: '',
    location: '',
    start: time(startMs),
    end: time(startMs + 3_600_000),
    recurrence: [],
    recurringEventId: null,
    originalStart: null,
    busy: true,
    visibility: 'default',
    organizer: null,
    attendees: [],
    conference: null,
    reminders: [],
    htmlLink: null,
    createdAt: null,
    updatedAt: null,
  })
}

/** By start, and by last change, which is the same for all events here. */
const READERS = [
  { isExpanded: false, read: readOpenRange, order: 'startTime' },
  { isExpanded: true, read: readOpenRange, order: 'startTime' },
  { isExpanded: false, read: readOpenRangeByChange, order: 'updated' },
  { isExpanded: true, read: readOpenRangeByChange, order: 'updated' },
] as const

describeOneDatabase('a range without bounds', 'sqlite', (open) => {
  it.each(READERS)(
    'is read in parts where it has too much for one reading: $order, expanded: $isExpanded',
    async ({ isExpanded, read, order }) => {
      const db = await open()
      await storeCalendar(db, 'acc_1', NOW)
      const [calendar] = await calendarStore(db.read).all('acc_1')
      if (calendar === undefined) throw new Error('There is no calendar.')
      const random = randomNumbers()
      const starts = Array.from({ length: EVENTS }, () =>
        Math.floor(Date.UTC(1985, 0, 1) + random() * Date.UTC(2035, 0, 1)),
      )
      const events = starts.map((ms, index) => eventAt(`event-${index}`, Math.floor(ms / 1000) * 1000))
      const startMs = ({ start }: RemoteEvent) => Date.parse(`${'dateTime' in start ? start.dateTime : ''}Z`)
      const remote: CalendarAccount = {
        listCalendars: async () => [],
        async *syncEvents() {},
        async readRange({ range: { from, to } }) {
          const found = events.filter((event) => startMs(event) < to && startMs(event) + 3_600_000 > from)
          if (found.length > MOST) throw new ProviderError('limit_exceeded', 'reading events: too many')
          return found
        },
      }
      const what = {
        calendar,
        range: EVERYTHING,
        isExpanded,
        words: [],
        nowMs: NOW,
        signal: new AbortController().signal,
      }
      const listed: string[] = []
      for (let after: Position | undefined; ; ) {
        const rows = await read(db.read, remote, what, { after, count: 7 })
        listed.push(...rows.map(({ id }) => id))
        const last = rows.at(-1)
        if (last === undefined || rows.length < 7) break
        after = listPosition(last, order)
      }
      const byStart = (a: RemoteEvent, b: RemoteEvent) => (order === 'startTime' ? startMs(a) - startMs(b) : 0)
      const sorted = events.toSorted((a, b) => byStart(a, b) || (a.eventId < b.eventId ? -1 : 1))
      expect(listed).toEqual(sorted.map(({ eventId }) => eventId))
    },
  )
})
