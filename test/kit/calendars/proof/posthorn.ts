import { freeSlots, openStarts } from '../../../../src/booking/slots/open-hours/open-slots.ts'
import { readRules } from '../../../../src/booking/slots/slot-rules.ts'
import { instanceRows } from '../../../../src/calendars/instance-rows.ts'
import { mapEvents } from '../../../../src/providers/caldav/events/map.ts'
import { ObjectZones } from '../../../../src/providers/caldav/events/zones.ts'
import type { RemoteEvent, TimeRange } from '../../../../src/providers/contract/index.ts'
import { mappedItem } from '../../../../src/providers/gmail/calendar/map.ts'
import { cancelledInstances, remoteEvent } from '../../../../src/providers/microsoft/calendar/map.ts'
import { list, object } from '../../../../src/providers/shared/rest/index.ts'
import { experienceWith } from '../../booking/experience.ts'
import type { GeneratedCalendar, SlotQuestion, Unit } from './calendar.ts'
import { ME, type Shape } from './described.ts'
import { utcText } from './instants.ts'

/** When an event takes place. */
export interface Row extends TimeRange {
  isBusy: boolean
}

const MINUTE_MS = 60_000

/** Reads the events of one calendar as Posthorn does. */
export class CalendarReader {
  readonly #calendar: GeneratedCalendar
  /** The zones of all objects, as in a sync. */
  readonly #zones = new ObjectZones()

  constructor(calendar: GeneratedCalendar) {
    this.#calendar = calendar
  }

  /** The instances of a unit that overlap the window, in order. */
  async rows(shape: Shape, { written }: Unit): Promise<Row[]> {
    const events = await this.#events(shape, written)
    const { window, zone: timeZone } = this.#calendar
    const row = (event: RemoteEvent) => ({ id: event.eventId, content: JSON.stringify(event) })
    return events
      .flatMap((event) => {
        const exceptions = events.filter(({ recurringEventId }) => recurringEventId === event.eventId).map(row)
        return instanceRows(row(event), exceptions, { id: 'cal_1', timeZone }, window)
      })
      .map(({ startMs, endMs, isBusy }) => ({ from: startMs, to: endMs, isBusy: isBusy === 1 }))
      .sort((one, other) => one.from - other.from || one.to - other.to || Number(one.isBusy) - Number(other.isBusy))
  }

  async #events(shape: Shape, written: Unit['written']): Promise<RemoteEvent[]> {
    if (typeof written === 'string') {
      const context = { zones: this.#zones, addresses: new Set([ME]) }
      return await mapEvents({ path: '/calendar/1.ics', etag: null, text: written }, context)
    }
    return shape === 'google' ? this.#googleEvents(written) : written.flatMap(graphEvents)
  }

  #googleEvents(items: readonly Record<string, unknown>[]): RemoteEvent[] {
    const context = { timeZone: this.#calendar.zone, defaultReminders: [] }
    return items.flatMap((item) => mappedItem(item, context)?.event ?? [])
  }
}

/** As a series is read with all of its exceptions. */
function graphEvents(item: Record<string, unknown>): RemoteEvent[] {
  const event = remoteEvent(item, { email: ME })
  if (event === undefined) return []
  const changed = list(item.exceptionOccurrences).flatMap(
    (each) => remoteEvent(object(each), { email: ME, master: item }) ?? [],
  )
  return [event, ...changed, ...cancelledInstances(item, event)]
}

/** The starts of slots that can be booked beside busy times. */
export async function bookableStarts(question: SlotQuestion, range: TimeRange, busy: TimeRange[]): Promise<number[]> {
  const days = question.days.map((day) => (day + 1) % 7)
  const [start, end] = [question.opens, question.closes].map(clock)
  const openHours = [{ days, start: start ?? '', end: end ?? '' }]
  const buffers = { bufferBeforeMinutes: question.before, bufferAfterMinutes: question.after }
  const rules = readRules(experienceWith({ openHours, ...buffers }, { timezone: question.zone }))
  const lengthMs = question.length * MINUTE_MS
  const starts = openStarts(rules, { range, lengthMs, stepMs: question.step * MINUTE_MS }, range.from)
  const host = { hostId: 'acc_1', busy, blocks: [], fullDates: new Set<string>() }
  return (await freeSlots(rules, starts, lengthMs, [host])).map((slot) => slot.start)
}

/** `24:00` is the end of a day. */
function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

export function rowText({ from, to, isBusy }: Row): string {
  return `${utcText(from)}/${utcText(to)}${isBusy ? '' : ' free'}`
}
