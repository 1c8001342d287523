import type { Static, TSchema } from 'typebox'
import * as Type from 'typebox'
import { PROVIDER_NAMES, type ProviderName } from '../providers/contract/index.ts'

/** One event type. Each feature declares its own; `src/app/feature-list.ts` collects them. */
export interface EventDeclaration<Data extends TSchema = TSchema> {
  /** One sentence: when the event is sent. */
  description: string
  data: Data
  example: EventContent<Static<Data>>
}

export type EventDeclarations = Readonly<Record<string, EventDeclaration>>

/** An event without its type. */
export interface EventContent<Data = unknown> {
  accountId: string | null
  provider: ProviderName | null
  objectId: string | null
  version: number | null
  data: Data
}

/** An event as a feature records it. `data` is at most 256 KB as JSON. */
export interface NewEvent<Name extends string = string, Data = unknown> extends EventContent<Data> {
  type: Name
  /** False: stored and streamed, but the caller delivers the event itself, as tests do. Default true. */
  fanOut?: boolean
}

/** An event of one of these types, with the `data` that its declaration describes. */
export type EventOf<Declared extends EventDeclarations, Name extends keyof Declared = keyof Declared> = {
  [Type in Name & string]: NewEvent<Type, Static<Declared[Type]['data']>>
}[Name & string]

/** Declares an event type. The compiler checks that the example matches the schema. */
export function declareEvent<Data extends TSchema>(
  description: string,
  data: Data,
  example: EventContent<Static<Data>>,
): EventDeclaration<Data> {
  return { description, data, example }
}

/** The event types of the service. The recorder, the OpenAPI document, `docs/events.md` and test deliveries read it. */
export interface EventCatalogue {
  /** The types that the service records, in the order in which they were declared. */
  readonly types: readonly string[]
  find(type: string): EventDeclaration | undefined
  /** Throws for a type that is not declared. */
  get(type: string): EventDeclaration
}

export function eventCatalogue(recorded: EventDeclarations): EventCatalogue {
  const byType = new Map(Object.entries(recorded))
  return {
    types: Object.keys(recorded),
    find: (type) => byType.get(type),
    get(type) {
      const declaration = byType.get(type)
      if (declaration === undefined) throw new Error(`The event type "${type}" is not declared.`)
      return declaration
    },
  }
}

export const providerSchema = Type.Enum([...PROVIDER_NAMES])

export const addressSchema = Type.Object({ name: Type.String(), email: Type.String() }, { title: 'Address' })

/** The account of every example. */
export const EXAMPLE_ACCOUNT = { accountId: 'acc_01k9zv3h5q8m2n4p6r7s8t9vwx', provider: 'imap' } as const
