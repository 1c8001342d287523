import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { fc } from '../../../test/kit/random/random.ts'
import { DAY_MS, formatLocal } from '../../platform/calendar/days.ts'
import type { Db } from '../../platform/db/index.ts'
import { boundedEvent, type RemoteEvent } from '../../providers/contract/index.ts'
import { buildPlacement } from '../instance-rows.ts'
import { buildSearchText } from '../search-text.ts'
import { type EventRow, eventStore, type InstanceRow, placeEvent } from '../store.ts'
import { type EventOrder, type Position, readRange, type StoredRange } from './range.ts'

const CALENDAR = { id: 'cal_1', timeZone: 'Europe/Berlin' }
const NOW = Date.UTC(2026, 10, 20)
const WINDOW = { from: NOW - 30 * DAY_MS, to: NOW + 365 * DAY_MS }
/** Half of them have gaps in which a range may be. */
const SPARSE = 'FREQ=DAILY;INTERVAL=40'
const RULES = ['', 'FREQ=DAILY', 'FREQ=WEEKLY', 'FREQ=MONTHLY;COUNT=3', 'FREQ=YEARLY', SPARSE, SPARSE, SPARSE]

/** Start in hours from now, length in hours, rule, last change, summary. */
const shape = fc.record({
  hour: fc.integer({ min: -1500, max: 5000 }),
  hours: fc.constantFrom(0, 1, 24, 25, 24 * 9, 24 * 9),
  rule: fc.constantFrom(...RULES),
  updatedAt: fc.integer({ min: 1, max: 4 }),
  summary: fc.constantFrom('Lunch', 'Review', 'Lunch review'),
})

function buildEvent({
  hour,
  hours,
  rule,
  summary,
}: {
  hour: number
  hours: number
  rule: string
  summary: string
}): RemoteEvent {
  const time = (ms: number) => ({ dateTime: formatLocal(ms), timeZone: CALENDAR.timeZone })
  const startMs = NOW + hour * 3_600_000
  return boundedEvent({
    eventId: 'p',
    iCalUid: 'u',
    etag: null,
    status: 'confirmed',
    summary,
    description: '',
    location: '',
    start: time(startMs),
    end: time(startMs + hours * 3_600_000),
    recurrence: rule === '' ? [] : [`RRULE:${rule}`],
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

interface Stored {
  row: EventRow
  instances: readonly InstanceRow[]
}

async function store(
  db: Db,
  shapes: readonly Parameters<typeof buildEvent>[0][],
  updated: readonly number[],
): Promise<Stored[]> {
  return db.transaction(async (tx) => {
    const all: Stored[] = []
    for (const [index, shape] of shapes.entries()) {
      const event = buildEvent(shape)
      const id = `cev_${String(index).padStart(3, '0')}`
      const row: EventRow = {
        id,
        accountId: 'acc_1',
        calendarId: CALENDAR.id,
        providerId: id,
        masterProviderId: null,
        originalStart: null,
        status: event.status,
        isSeries: Number(event.recurrence.length > 0),
        content: JSON.stringify(event),
        searchText: buildSearchText(event),
        startMs: 0,
        firstMs: null,
        lastMs: null,
        gapMs: -1,
        round: 0,
        version: 1,
        apiChange: 0,
        confirmations: 0,
        createdAt: 1,
        updatedAt: updated[index] ?? 1,
      }
      await eventStore(tx, CALENDAR.id).insert(row)
      const placement = buildPlacement(row, [], CALENDAR, WINDOW)
      await placeEvent(tx, id, placement)
      all.push({ row: { ...row, startMs: placement.startMs }, instances: placement.instances })
    }
    return all
  })
}

/** The same list by its definition: every instance that overlaps the range. */
function expected(all: readonly Stored[], { range, isExpanded, words, order }: StoredRange): string[] {
  return all
    .filter(({ row }) => words.every((word) => row.searchText.includes(word)))
    .flatMap(({ row, instances }) => {
      const found = instances.filter(({ startMs, endMs }) => startMs < range.to && endMs > range.from)
      const shown = isExpanded ? found : found.slice(0, 1).map(() => ({ originalStart: '', startMs: row.startMs }))
      return shown.map(({ originalStart, startMs }) => ({
        key: order === 'startTime' ? startMs : row.updatedAt,
        name: `${row.id} ${originalStart}`,
      }))
    })
    .sort((a, b) => a.key - b.key || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
}

async function listed(db: Db, stored: StoredRange, limit: number): Promise<string[]> {
  const names: string[] = []
  for (let after: Position | undefined; ; ) {
    const { rows, total } = await readRange(db.read, stored, { after, offset: 0, limit })
    names.push(...rows.map(({ id, instance }) => `${id} ${instance}`))
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) {
      expect(total).toEqual({ count: names.length, capped: false })
      return names
    }
    after = [stored.order === 'startTime' ? last.startMs : last.updatedAt, last.id, last.instance]
  }
}

describeEachDatabase('lists of a calendar', (open) => {
  it('contain exactly what overlaps the range, in order, whatever the pages are', async () => {
    const db = await open()
    const [shapes = []] = fc.sample(fc.array(shape, { minLength: 30, maxLength: 30 }), 1)
    const all = await store(
      db,
      shapes,
      shapes.map(({ updatedAt }) => updatedAt),
    )
    const at = (hour: number) => Math.min(WINDOW.to, Math.max(WINDOW.from, NOW + hour * 3_600_000))
    const cases = fc.record({
      from: fc.integer({ min: -720, max: 8000 }),
      hours: fc.constantFrom(1, 1, 24, 24 * 6, 24 * 7, 24 * 31, 24 * 400),
      isExpanded: fc.boolean(),
      words: fc.constantFrom<string[]>([], ['lunch'], ['review', 'lunch'], ['nothing']),
      order: fc.constantFrom<EventOrder>('startTime', 'updated'),
      limit: fc.constantFrom(7, 50, 1000),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ from, hours, limit, ...list }) => {
        const range = { from: at(from), to: at(from + hours) }
        const stored = { calendarId: CALENDAR.id, range, ...list }
        expect(await listed(db, stored, limit)).toEqual(expected(all, stored))
      }),
      { numRuns: 40 },
    )
  })
})
