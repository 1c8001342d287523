import { boundedEvent, type RemoteEvent } from '../../contract/index.ts'
import { type Json, object, text } from '../../rest/index.ts'

/** In place of a series that Graph does not return: busy at the times of its occurrences in a view. Undefined when none is known. */
export function placeholderOf(eventId: string, occurrences: readonly Json[]): RemoteEvent | undefined {
  const times = occurrences.flatMap((item) => timesOf(item) ?? []).sort((one, other) => one.startMs - other.startMs)
  const [first] = times
  if (first === undefined) return undefined
  return boundedEvent({
    ...{ eventId, iCalUid: '', etag: null, status: 'confirmed', summary: '', description: '', location: '' },
    start: utcTime(first.startMs),
    end: utcTime(first.endMs),
    recurrence: [`RDATE:${times.map(({ startMs }) => utcText(startMs)).join(',')}`],
    timesOnly: true,
    ...{ recurringEventId: null, originalStart: null, busy: true, visibility: 'default', organizer: null },
    ...{ attendees: [], conference: null, reminders: [], htmlLink: null, createdAt: null, updatedAt: null },
  })
}

function timesOf({ start, end }: Json): { startMs: number; endMs: number } | undefined {
  const [startMs, endMs] = [start, end].map((one) => {
    const { dateTime, timeZone } = object(one)
    return text(timeZone) === 'UTC' ? Date.parse(`${text(dateTime)?.slice(0, 19)}Z`) : Number.NaN
  })
  if (startMs === undefined || endMs === undefined || !(endMs >= startMs)) return undefined
  return { startMs, endMs }
}

function utcTime(ms: number) {
  return { dateTime: new Date(ms).toISOString().slice(0, 19), timeZone: 'UTC' }
}

function utcText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}
