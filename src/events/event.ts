import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import * as Type from 'typebox'
import type { Tables } from '../platform/db/index.ts'
import { nullable, timestamp } from '../platform/formats/json-schema.ts'
import { isoTime } from '../platform/time/time.ts'
import { type EventDeclaration, providerSchema } from './catalogue.ts'

/** The version of the event format: a date. It changes only when a field changes its meaning. */
const API_VERSION = '2026-11-01'

/** An event as webhooks and the API show it. */
export function eventSchema(types: readonly string[]) {
  return Type.Object({
    id: Type.String({ examples: ['evt_01k9zw5e9w2y4z6b8d1f3h5k7n'] }),
    type: Type.Enum([...types]),
    timestamp: timestamp('When the event was recorded.'),
    apiVersion: Type.String({ description: 'Changes when a field changes its meaning.', examples: [API_VERSION] }),
    accountId: nullable(Type.String({ description: 'Null when the event concerns no account.' })),
    provider: nullable(providerSchema),
    sequence: nullable(Type.Integer({ description: 'Number of the event within its account, without gaps.' })),
    objectId: nullable(Type.String({ description: 'The object that changed: a message, an account, a booking.' })),
    version: nullable(Type.Integer({ description: 'Number of changes of that object; the highest is the latest.' })),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Depends on the type; at most 256 KB as JSON.',
    }),
  })
}

export type EventBody = Static<ReturnType<typeof eventSchema>>

export type EventRow = Selectable<Tables['events']>

/** The event as it is sent, without `data`, which may be large and is stored as JSON text. Depends on the row only. */
export function eventHead(row: EventRow): Omit<EventBody, 'data'> {
  return {
    id: row.id,
    type: row.type,
    timestamp: isoTime(row.createdAt),
    apiVersion: API_VERSION,
    accountId: row.accountId,
    provider: row.provider,
    sequence: row.sequence,
    objectId: row.objectId,
    version: row.version,
  }
}

/** The example of an event type, as applications receive it. */
export function exampleEvent(type: string, { example }: EventDeclaration): EventBody {
  const { accountId, provider, objectId, version } = example
  const data: object = Object(example.data)
  return {
    id: 'evt_01k9zw5e9w2y4z6b8d1f3h5k7n',
    type,
    timestamp: latestTime(data),
    apiVersion: API_VERSION,
    accountId,
    provider,
    sequence: accountId === null ? null : 42,
    objectId,
    version,
    data: { ...data },
  }
}

/** An event is recorded when its data last changed: the latest of its `…At` members. */
function latestTime(data: object): string {
  const times = Object.entries(data).flatMap(([name, value]) => (name.endsWith('At') ? [String(value)] : []))
  return times.sort().at(-1) ?? '2026-11-20T08:00:00.000Z'
}
