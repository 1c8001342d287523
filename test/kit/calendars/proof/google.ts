import type { Choices } from './choices.ts'
import { type DescribedEvent, type DescribedTimes, ME } from './described.ts'
import { offsetTime, toInstant, toInstants, utcText } from './instants.ts'
import { basic } from './times.ts'

/** The resources of an event in the API of Google Calendar: the event or master, and its exceptions. */
export function googleItems(choices: Choices, event: DescribedEvent, calendarZone: string): Record<string, unknown>[] {
  const { uid, times, exceptions } = event
  const zone = times.zone ?? calendarZone
  const master = {
    id: uid,
    iCalUID: `${uid}@google.com`,
    ...mapTimes(times, calendarZone),
    ...mapState(event),
    ...(event.rule !== null && { recurrence: mapRecurrence(choices, event, zone) }),
  }
  const changes = exceptions.map(({ original, times: changed, isFree }) => ({
    id: `${uid}_${instanceId(original, zone)}`,
    recurringEventId: uid,
    originalStartTime: mapTime(original, toInstant(original, zone), zone, calendarZone),
    ...(changed === null ? { status: 'cancelled' } : { status: 'confirmed', ...mapTimes(changed, calendarZone) }),
    ...(isFree && { transparency: 'transparent' }),
  }))
  return [master, ...changes]
}

function mapState({ state }: DescribedEvent): Record<string, unknown> {
  const status = state === 'tentative' || state === 'cancelled' ? state : 'confirmed'
  const attendees = [{ email: ME, self: true, responseStatus: 'declined' }]
  return {
    status,
    ...(state === 'free' && { transparency: 'transparent' }),
    ...(state === 'declined' && { attendees }),
  }
}

function mapTimes(times: DescribedTimes, calendarZone: string) {
  const { startMs, endMs } = toInstants(times, calendarZone)
  const zone = times.zone ?? calendarZone
  return {
    start: mapTime(times.start, startMs, zone, calendarZone),
    end: mapTime(times.end, endMs, times.endZone ?? zone, calendarZone),
  }
}

/** The offset is that of the calendar. */
function mapTime(wall: string, ms: number, timeZone: string, calendarZone: string) {
  return wall.length === 10 ? { date: wall } : { dateTime: offsetTime(ms, calendarZone), timeZone }
}

function mapRecurrence(choices: Choices, { rule, added, excluded }: DescribedEvent, zone: string): string[] {
  const line = (name: string, walls: string[]) => {
    if (walls.length === 0) return []
    const texts = walls.map(basic).join(',')
    if (walls[0]?.length === 10) return [`${name};VALUE=DATE:${texts}`]
    if (choices.is(0.5)) return [`${name};TZID=${zone}:${texts}`]
    return [`${name}:${walls.map((wall) => basic(utcText(toInstant(wall, zone)))).join(',')}`]
  }
  return [`RRULE:${rule}`, ...line('EXDATE', excluded), ...line('RDATE', added)]
}

function instanceId(original: string, zone: string): string {
  return original.length === 10 ? basic(original) : basic(utcText(toInstant(original, zone)))
}
