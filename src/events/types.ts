import type { Static } from 'typebox'
import { CATALOGUE } from './catalogue/catalogue.ts'
import type { EventEntry, EventExample } from './catalogue/entry.ts'

export type EventType = keyof typeof CATALOGUE

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(CATALOGUE, text)
}

/** Every event type there is. `eventTypes` of an endpoint may also hold `*` and prefixes such as `message.*`. */
export const EVENT_TYPES: readonly EventType[] = Object.keys(CATALOGUE).filter(isEventType)

type Schemas = { [Type in EventType]: (typeof CATALOGUE)[Type]['data'] }

/** The catalogue, as what is generic in the type needs it. */
export const ENTRIES: { readonly [Type in EventType]: EventEntry<Schemas[Type]> } = CATALOGUE

/** The `data` of a type, as the catalogue says it. */
export type EventData<Type extends EventType> = Static<Schemas[Type]>

/** What a room records: `data` has the shape of its type and is at most 256 KB as JSON. */
export type NewEvent<Types extends EventType = EventType> = { [Type in Types]: NewEventOf<Type> }[Types]

interface NewEventOf<Type extends EventType> extends EventExample<EventData<Type>> {
  type: Type
  /** False: stored and streamed, but delivered by the caller itself (tests). Default true. */
  fanOut?: boolean
}
