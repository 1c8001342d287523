import { type Component, parseObject, property, readText } from '../../../platform/calendar/components.ts'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import type { RemoteEvent, SeriesMove } from '../../contract/index.ts'
import { Notes } from './notes.ts'
import { type CalendarObject, type MapContext, ObjectMapper } from './object-mapper.ts'

/** An event and its VEVENT. */
export interface MappedComponent {
  event: RemoteEvent
  component: Component
}

const MAX_EVENTS = 2000
const MAX_MOVES = 20

/** The events of an object. */
interface ObjectEvents {
  /** The master or single event, and its exceptions. Empty for what is no event, or cannot be read. */
  events: RemoteEvent[]
  /** Describes in sentences what could not be read. Null: everything was. */
  unreadable: string | null
}

export async function objectEvents(object: CalendarObject, context: MapContext): Promise<ObjectEvents> {
  const calendar = parseObject(object.text, { attachments: 'skip' })
  if (calendar === undefined) return { events: [], unreadable: 'It is no iCalendar object, or too large to be read.' }
  const notes = new Notes()
  const mapped = await mappedIn(calendar, object, context, notes)
  return { events: mapped.map(({ event }) => event), unreadable: notes.text }
}

export async function mapEvents(object: CalendarObject, context: MapContext): Promise<RemoteEvent[]> {
  return (await objectEvents(object, context)).events
}

/** The same with the components, for changing them. Undefined where there is no event. */
export async function readObject(
  object: CalendarObject,
  context: MapContext,
): Promise<{ calendar: Component; mapped: MappedComponent[] } | undefined> {
  const calendar = parseObject(object.text)
  if (calendar === undefined) return undefined
  const mapped = await mappedIn(calendar, object, context)
  return mapped.length === 0 ? undefined : { calendar, mapped }
}

/** Masters before their exceptions. */
async function mappedIn(
  calendar: Component,
  object: CalendarObject,
  context: MapContext,
  notes = new Notes(),
): Promise<MappedComponent[]> {
  const byUid = new Map<string, Component[]>()
  const events = calendar.components.filter(({ name }) => name === 'VEVENT')
  if (events.length > MAX_EVENTS)
    notes.add(`Of ${events.length} events in the object the first ${MAX_EVENTS} are read.`)
  for (const component of events.slice(0, MAX_EVENTS)) {
    const uid = readText(component, 'UID')
    const sameUid = byUid.get(uid)
    if (sameUid === undefined) byUid.set(uid, [component])
    else sameUid.push(component)
  }
  const mapped: MappedComponent[] = []
  for (const [uid, components] of byUid) {
    // RFC 4791 allows one UID in an object, but old servers keep several.
    const eventId = mapped.length === 0 ? object.path : `${object.path}#uid-${sha256(uid, 'hex').slice(0, 16)}`
    mapped.push(...(await mappedSeries(components, new ObjectMapper({ object, calendar, context, eventId, notes }))))
  }
  const [first, ...others] = mapped.filter(({ event }) => event.originalStart === null)
  if (first !== undefined && others.length > 0) first.event.siblings = others.map(({ event }) => event.eventId)
  return mapped
}

/** The components of one UID. Of two that say something about the same instance, that with the higher SEQUENCE counts. */
async function mappedSeries(components: readonly Component[], mapper: ObjectMapper): Promise<MappedComponent[]> {
  const isException = (component: Component) => property(component, 'RECURRENCE-ID') !== undefined
  const inOrder = [...components].sort((left, right) => Number(isException(left)) - Number(isException(right)))
  const mapped = new Map<string, MappedComponent>()
  const moves: SeriesMove[] = []
  for (const component of inOrder) {
    const original = property(component, 'RECURRENCE-ID')
    const event = mapper.event(component, original, mapped.get(mapper.eventId)?.event)
    await yieldIfHeld(TURN_MS)
    if (event === undefined) continue
    const earlier = mapped.get(event.eventId)
    if (earlier !== undefined && readSequence(earlier.component) >= readSequence(component)) continue
    mapped.set(event.eventId, { event, component })
  }
  for (const { event, component } of mapped.values()) {
    const { originalStart, status, start, end, busy, attendees } = event
    const range = property(component, 'RECURRENCE-ID')?.parameters.get('RANGE')?.toUpperCase()
    if (originalStart === null || range !== 'THISANDFUTURE') continue
    const isDeclined = attendees.some(({ self, responseStatus }) => self && responseStatus === 'declined')
    moves.push({ originalStart, times: status === 'cancelled' ? null : { start, end }, busy: busy && !isDeclined })
  }
  const master = mapped.get(mapper.eventId)?.event
  if (master !== undefined && moves.length > 0) master.moves = moves.slice(0, MAX_MOVES)
  return [...mapped.values()]
}

function readSequence(component: Component): number {
  return Number(property(component, 'SEQUENCE')?.value ?? 0) || 0
}

/** The path of the object that contains an event. */
export function objectPath(eventId: string): string {
  return eventId.split('#', 1)[0] ?? ''
}
