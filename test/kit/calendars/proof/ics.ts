import { type DescribedChange, type DescribedTimes, type GeneratedEvent, ME } from './described.ts'
import { toInstant, utcText } from './instants.ts'
import { basic } from './times.ts'
import { zoneNames } from './zone-descriptions.ts'

/** A calendar object with these events. */
export function buildObject(events: readonly GeneratedEvent[], calendarZone: string): string {
  const zones = new Map<string, string[]>()
  const components = events.flatMap((event) => buildComponents(event, calendarZone, zones))
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', ...[...zones.values()].flat(), ...components, 'END:VCALENDAR']
  return `${lines.join('\r\n')}\r\n`
}

/** The zone of an event, as an object writes it. `zones` collects the descriptions. */
class EventWriter {
  readonly #generated: GeneratedEvent
  readonly #calendarZone: string
  readonly #zones: Map<string, string[]>

  constructor(generated: GeneratedEvent, calendarZone: string, zones: Map<string, string[]>) {
    this.#generated = generated
    this.#calendarZone = calendarZone
    this.#zones = zones
  }

  master(): string[] {
    const { event, writing } = this.#generated
    const { times, rule, added, excluded } = event
    return [
      'BEGIN:VEVENT',
      `UID:${event.uid}`,
      ...this.#times(times, writing.duration),
      ...(rule === null ? [] : [`RRULE:${rule}`]),
      ...added.map((wall) => this.#date('RDATE', wall)),
      ...excluded.map((wall) => this.#date('EXDATE', wall)),
      ...writing.lines,
      ...this.#state(event.state),
      'END:VEVENT',
    ]
  }

  change(change: DescribedChange, index: number): string[] {
    if (!this.#generated.writing.hasOldVersions) return this.#version(change, index, [])
    const { original } = change
    const older: DescribedChange = { original, times: this.#generated.event.times, isFree: true }
    return [...this.#version(change, index, ['SEQUENCE:2']), ...this.#version(older, index, ['SEQUENCE:1'])]
  }

  #version({ original, times, isFree }: DescribedChange, index: number, more: readonly string[]): string[] {
    const { event, writing } = this.#generated
    const range = writing.rangeIndex === index ? ';RANGE=THISANDFUTURE' : ''
    return [
      'BEGIN:VEVENT',
      `UID:${event.uid}`,
      this.#property(`RECURRENCE-ID${range}`, original, writing.originals),
      ...(times === null
        ? [this.#property('DTSTART', original, 'zone'), 'STATUS:CANCELLED']
        : this.#times(times, null)),
      ...(isFree ? ['TRANSP:TRANSPARENT'] : []),
      ...more,
      'END:VEVENT',
    ]
  }

  #times(times: DescribedTimes, duration: string | null): string[] {
    const { start, end, isSecond, endZone } = times
    const startMs = toInstant(start, times.zone ?? this.#calendarZone, isSecond)
    const starts = isSecond ? `DTSTART:${basic(utcText(startMs))}` : this.#timeIn('DTSTART', start, times.zone)
    const ends = duration === null ? this.#timeIn('DTEND', end, endZone ?? times.zone) : `DURATION:${duration}`
    return [starts, ends]
  }

  /** EXDATE or RDATE. */
  #date(name: string, wall: string): string {
    const { dates } = this.#generated.writing
    // A date for each instance of that day is another thing than an instance.
    const isDay = dates === 'date' && wall.length > 10
    return isDay ? `${name};VALUE=DATE:${basic(wall.slice(0, 10))}` : this.#property(name, wall, dates)
  }

  /** A time in the zone of the series. */
  #property(name: string, wall: string, form: 'zone' | 'utc' | 'date' | 'floating'): string {
    const { zone } = this.#generated.event.times
    if (form === 'utc') return `${name}:${basic(utcText(toInstant(wall, zone ?? this.#calendarZone)))}`
    if (form === 'floating' && wall.length > 10) return `${name}:${basic(wall)}`
    return this.#timeIn(name, wall, zone)
  }

  #timeIn(name: string, wall: string, zone: string | null): string {
    const { writing, event } = this.#generated
    if (wall.length === 10) return `${name};VALUE=DATE:${basic(wall)}`
    if (zone === 'UTC') return `${name}:${basic(wall)}Z`
    if (zone === null && writing.zone !== 'own') return `${name}:${basic(wall)}`
    // Only the zone of the series has a name of its own.
    const form = zone === event.times.zone ? writing.zone : 'region'
    const { tzid, lines } = zoneNames(zone ?? '', form, writing.ownZone)
    if (!this.#zones.has(tzid)) this.#zones.set(tzid, lines)
    return `${name};TZID=${/[,;:]/.test(tzid) ? `"${tzid}"` : tzid}:${basic(wall)}`
  }

  #state(state: string): string[] {
    switch (state) {
      case 'free':
        return [this.#generated.writing.isFreeForOutlook ? 'X-MICROSOFT-CDO-BUSYSTATUS:FREE' : 'TRANSP:TRANSPARENT']
      case 'tentative':
        return ['STATUS:TENTATIVE']
      case 'cancelled':
        return ['STATUS:CANCELLED']
      case 'declined':
        return ['ORGANIZER:mailto:bob@example.com', `ATTENDEE;PARTSTAT=DECLINED:mailto:${ME}`]
      default:
        return []
    }
  }
}

function buildComponents(generated: GeneratedEvent, calendarZone: string, zones: Map<string, string[]>): string[] {
  const writer = new EventWriter(generated, calendarZone, zones)
  return [...writer.master(), ...generated.event.exceptions.flatMap((change, index) => writer.change(change, index))]
}
