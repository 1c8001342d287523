import type { Static, TSchema } from 'typebox'
import type { ProviderName } from '../../providers/contract/index.ts'

/** One event type: when it is sent, the JSON Schema of its `data`, and one that might have happened. */
export interface EventEntry<Data extends TSchema = TSchema> {
  /** One sentence: when it is sent. */
  about: string
  data: Data
  example: EventExample<Static<Data>>
}

/** What a room records of an event, but for its type. */
export interface EventExample<Data> {
  accountId: string | null
  provider: ProviderName | null
  objectId: string | null
  version: number | null
  data: Data
}

/** An entry whose example has the shape that its schema says. */
export function entry<Data extends TSchema>(
  about: string,
  data: Data,
  example: EventExample<Static<Data>>,
): EventEntry<Data> {
  return { about, data, example }
}
