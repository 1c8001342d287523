import type { Static } from 'typebox'
import * as Type from 'typebox'
import { documentedAs } from '../../platform/formats/json-schema.ts'
import { pageQuery } from '../../platform/http/index.ts'
import { type EventCatalogue, type EventRow, eventHead, eventSchema, eventUnion } from '../index.ts'

const head = {
  position: Type.Integer({
    description: 'Position in the order of all events; the value for since and Last-Event-ID.',
  }),
  test: Type.Boolean({ description: 'True for test events.' }),
}

/** An event with its place in the feed. Written with any `data`: only the document distinguishes the types. */
export function feedEventSchema(catalogue: EventCatalogue) {
  const union = eventUnion(catalogue, { title: 'Event', suffix: 'Event', head })
  return Type.Object({ ...head, ...eventSchema(catalogue.types).properties }, documentedAs(union.schema))
}
type FeedEvent = Static<ReturnType<typeof feedEventSchema>>

export function feedEvent(row: EventRow): FeedEvent {
  return { ...feedHead(row), data: JSON.parse(row.data) }
}

/** The same as JSON text. `data` is stored as JSON and is not parsed again. */
export function feedEventText(row: EventRow): string {
  return `${JSON.stringify(feedHead(row)).slice(0, -1)},"data":${row.data}}`
}

function feedHead(row: EventRow): Omit<FeedEvent, 'data'> {
  return { position: row.position ?? 0, test: row.fanOut === 0, ...eventHead(row) }
}

export const eventParams = Type.Object({ eventId: Type.String({ minLength: 1, description: 'The id of the event.' }) })

const since = (fallback: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: `A position: events after it. Or a time (RFC 3339): events recorded at that time or later. ${fallback}`,
    }),
  )

export const listQuery = Type.Object({
  ...pageQuery,
  type: Type.Optional(Type.String({ description: 'Only events of this type.', examples: ['message.received'] })),
  accountId: Type.Optional(Type.String({ description: 'Only events of this account.' })),
  since: since('Default: the oldest stored event.'),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'By position. Default: asc with since, desc (newest first) without.' }),
  ),
})

export const streamQuery = Type.Object({
  type: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'Types, or prefixes such as `message.*`, separated by commas. Default: all types.',
    }),
  ),
  accountId: Type.Optional(Type.String({ description: 'Only events of this account.' })),
  since: since('Default: from now on. Last-Event-ID takes precedence.'),
})

export const streamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Position of the last event received; the stream continues after it.',
    }),
  ),
})
