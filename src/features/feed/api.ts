import { Type } from 'typebox'
import { eventSchema } from '../../events/index.ts'
import { listOf, pageQuery } from '../../infra/http/index.ts'

export const streamedEventSchema = Type.Object(
  {
    position: Type.Integer({ description: 'Its place in the order of all events; what since and Last-Event-ID take.' }),
    test: Type.Boolean({ description: 'True for what was made by a test.' }),
    ...eventSchema.properties,
  },
  { title: 'Event' },
)

export const eventList = listOf('events', streamedEventSchema)

export const eventParams = Type.Object({ eventId: Type.String({ minLength: 1 }) })

const since = (fallback: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: `A position: events behind it. Or a time (RFC 3339): events recorded then or later. ${fallback}`,
    }),
  )

export const listQuery = Type.Object({
  ...pageQuery,
  type: Type.Optional(Type.String({ description: 'Events of this type.', examples: ['message.received'] })),
  accountId: Type.Optional(Type.String({ description: 'Events of this account.' })),
  since: since('Default: from the first that is kept.'),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'By position. Default: asc with since, desc (newest first) without.' }),
  ),
})

export const streamQuery = Type.Object({
  type: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'Types or prefixes such as message.*, separated by commas. Default all.',
    }),
  ),
  accountId: Type.Optional(Type.String({ description: 'Only events of this account.' })),
  since: since('Default: from now on. Last-Event-ID wins.'),
})

export const streamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 64, description: 'The position of the last event seen; the stream goes on behind it.' }),
  ),
})
