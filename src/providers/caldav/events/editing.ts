import { type Component, property } from '../../../platform/calendar/components.ts'
import { type ContentLine, parseContentLine } from '../../../platform/calendar/content-line.ts'
import { type EventTarget, type EventTime, ProviderError, type RemoteEvent } from '../../contract/index.ts'
import { type EditContext, personLine, replace, timeLine, touch } from './input.ts'
import { type MappedComponent, readObject } from './map.ts'
import { type CalendarObject, formatInstanceId, type MapContext } from './object-mapper.ts'
import { readEmail } from './people.ts'
import { instanceTimes, SeriesInstances } from './series.ts'

/** An object while it is changed. */
export interface Editing {
  calendar: Component
  /** The components of the object, as they were before the change. */
  mapped: readonly MappedComponent[]
  /** The component of an event, or of an instance: made when the series has none for it. Throws `not_found`. */
  component(target: EventTarget): Component
  context: EditContext
}

export async function openEditing(
  object: CalendarObject,
  mapContext: MapContext,
  context: EditContext,
  doing: string,
): Promise<Editing> {
  const read = await readObject(object, mapContext)
  if (read === undefined) throw missing(doing)
  const { calendar, mapped } = read

  function component(target: EventTarget): Component {
    const found = eventIn(
      mapped.map(({ event }) => event),
      target,
    )
    if (found === undefined) throw missing(doing)
    const existing = mapped.find(({ event }) => event.eventId === found.eventId)
    if (existing !== undefined) return existing.component
    const made = buildException(findMaster(mapped, found) ?? missingMaster(doing), found)
    calendar.components.push(made)
    return made
  }
  return { calendar, mapped, component, context }
}

/** The event that the target names. An instance without an exception is made from its master. */
export function eventIn(events: readonly RemoteEvent[], { eventId, instance }: EventTarget): RemoteEvent | undefined {
  if (instance === null) return events.find((event) => event.eventId === eventId && event.status !== 'cancelled')
  const master = events.find((event) => event.eventId === eventId)
  const times = master === undefined ? undefined : instanceTimes(master, instance)
  if (master === undefined || times === undefined) return undefined
  const id = `${eventId}#${formatInstanceId(times.start)}`
  const exception = events.find((event) => event.eventId === id)
  if (exception !== undefined) return exception.status === 'cancelled' ? undefined : exception
  return { ...master, ...times, eventId: id, recurrence: [], recurringEventId: eventId, originalStart: times.start }
}

function findMaster(mapped: readonly MappedComponent[], { recurringEventId }: RemoteEvent): Component | undefined {
  return mapped.find(({ event }) => event.eventId === recurringEventId)?.component
}

/** An object may contain other events. */
function matchesEvent({ eventId }: RemoteEvent): (mapped: MappedComponent) => boolean {
  return ({ event }) => event.eventId === eventId || event.recurringEventId === eventId
}

const NOT_OF_AN_INSTANCE = ['RRULE', 'RDATE', 'EXDATE', 'EXRULE', 'DTSTART', 'DTEND', 'DURATION', 'RECURRENCE-ID']

function buildException(master: Component, { start, end, originalStart }: RemoteEvent): Component {
  const component: Component = { name: 'VEVENT', lines: [...master.lines], components: [...master.components] }
  const original: EventTime = originalStart ?? start
  replace(component, NOT_OF_AN_INSTANCE, [
    timeLine('RECURRENCE-ID', original),
    timeLine('DTSTART', start),
    timeLine('DTEND', end),
  ])
  return component
}

/** Removes the exceptions of instances that the series no longer has, as its master now is. */
export function removeExceptions(
  { calendar, mapped }: Pick<Editing, 'calendar' | 'mapped'>,
  master: RemoteEvent,
): void {
  const instances = new SeriesInstances(
    master,
    mapped.filter(matchesEvent(master)).flatMap(({ event }) => event.originalStart ?? []),
  )
  const removed = new Set(
    mapped.flatMap(({ event, component }) =>
      event.recurringEventId !== master.eventId || instances.has(event.originalStart ?? master.start)
        ? []
        : [component],
    ),
  )
  calendar.components = calendar.components.filter((each) => !removed.has(each))
}

/** Removes an event, or excludes an instance from its series. False when nothing is left. */
export function exclude(
  calendar: Component,
  mapped: readonly MappedComponent[],
  target: EventTarget,
  context: EditContext & { doing: string },
): boolean {
  const found = eventIn(
    mapped.map(({ event }) => event),
    target,
  )
  if (found === undefined) throw missing(context.doing)
  const own = mapped.filter(
    found.originalStart === null ? matchesEvent(found) : ({ event }) => event.eventId === found.eventId,
  )
  const removed = new Set(own.map(({ component }) => component))
  calendar.components = calendar.components.filter((each) => !removed.has(each))
  if (found.originalStart === null) return own.length < mapped.length
  const master = findMaster(mapped, found)
  if (master === undefined) return calendar.components.some(({ name }) => name === 'VEVENT')
  master.lines.push(timeLine('EXDATE', found.originalStart))
  touch(master, context, true)
  return true
}

const ANSWERS = { accepted: 'ACCEPTED', declined: 'DECLINED', tentative: 'TENTATIVE' }

/** False when the user is not invited. */
export function setResponse(event: Component, response: keyof typeof ANSWERS, addresses: ReadonlySet<string>): boolean {
  const isSelf = (line: ContentLine) => addresses.has(readEmail(line).toLowerCase())
  const organizer = property(event, 'ORGANIZER')
  if (organizer !== undefined && isSelf(organizer)) return false
  let isInvited = false
  event.lines = event.lines.map((text) => {
    const line = /^ATTENDEE[;:]/i.test(text) ? parseContentLine(text) : undefined
    if (line === undefined || !isSelf(line)) return text
    isInvited = true
    const parameters = new Map(line.parameters).set('PARTSTAT', ANSWERS[response])
    parameters.delete('RSVP')
    return personLine('ATTENDEE', readEmail(line), parameters)
  })
  return isInvited
}

function missingMaster(doing: string): never {
  throw missing(doing)
}

export function missing(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: not found`)
}
