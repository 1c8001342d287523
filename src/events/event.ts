import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Tables } from '../infra/db/index.ts'
import { nullable, timestamp } from '../infra/http/index.ts'
import { isoTime } from '../lib/time.ts'
import { provider } from './catalogue/parts.ts'
import { EVENT_TYPES, type EventType, isEventType } from './types.ts'

/** The version of the events' shape; a date, changed only when a field changes its meaning. */
export const API_VERSION = '2026-11-01'

/** An event as applications see it, in webhooks and over the API. */
export const eventSchema = Type.Object({
  id: Type.String({ examples: ['evt_01k9zw5e9w2y4z6b8d1f3h5k7n'] }),
  type: Type.Enum(EVENT_TYPES),
  timestamp: timestamp('When it was recorded.'),
  apiVersion: Type.String({ description: 'Changes when a field changes its meaning.', examples: [API_VERSION] }),
  accountId: nullable(Type.String({ description: 'Null for what concerns no account.' })),
  provider: nullable(provider),
  sequence: nullable(Type.Integer({ description: 'Counts the events of the account, without gaps.' })),
  objectId: nullable(Type.String({ description: 'What it happened to: a message, an account, a booking.' })),
  version: nullable(Type.Integer({ description: 'Counts the changes of that object; the greatest is the newest.' })),
  data: Type.Record(Type.String(), Type.Unknown(), { description: 'By type; at most 256 KB as JSON.' }),
})
export type EventBody = Static<typeof eventSchema>

export type EventRow = Selectable<Tables['events']>

/** The event as it is sent, a pure function of the row: all of it but `data`, which may be large and is JSON text already. */
export function eventHead(row: EventRow): Omit<EventBody, 'data'> {
  return {
    id: row.id,
    type: eventType(row.type),
    timestamp: isoTime(row.createdAt),
    apiVersion: API_VERSION,
    accountId: row.accountId,
    provider: row.provider,
    sequence: row.sequence,
    objectId: row.objectId,
    version: row.version,
  }
}

function eventType(text: string): EventType {
  if (!isEventType(text)) throw new Error(`unknown event type "${text}" in the store`)
  return text
}
