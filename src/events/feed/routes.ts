import type { Db } from '../../platform/db/index.ts'
import { invalid, notFound } from '../../platform/errors/app-error.ts'
import { buildPage, pageRequest } from '../../platform/formats/pagination.ts'
import { type App, listSchema, sendEventStream, sendList } from '../../platform/http/index.ts'
import { parseTime } from '../../platform/time/time.ts'
import { type EventCatalogue, type EventFilter, eventFeed } from '../index.ts'
import { eventParams, feedEvent, feedEventSchema, feedEventText, listQuery, streamHeaders, streamQuery } from './api.ts'
import type { EventStreams } from './streams.ts'

const tags = ['Events']
const READ = { access: 'key:read' } as const

/** Counting stops here when a filter is given. */
const MAX_COUNT = 10_000
const POSITION = /^\d{1,15}$/

interface FeedDeps {
  db: Db
  streams: EventStreams
  catalogue: EventCatalogue
  /** Whether a subscription such as `message.*` covers at least one event type. */
  isSubscription(text: string, catalogue: EventCatalogue): boolean
  subscribes(subscriptions: readonly string[], type: string): boolean
}

export function feedRoutes(app: App, deps: FeedDeps): void {
  const { db, streams, catalogue } = deps
  const eventSchema = feedEventSchema(catalogue)

  app.get(
    '/events',
    {
      config: READ,
      schema: {
        tags,
        operationId: 'listEvents',
        summary: 'List events',
        description: 'Ordered by position. An event is listed as soon as its webhook deliveries are created.',
        querystring: listQuery,
        response: { 200: listSchema('events', eventSchema) },
      },
    },
    async ({ query }, reply) => {
      const { type, accountId, since } = query
      if (type !== undefined && catalogue.find(type) === undefined) throw invalid('query.type', 'is not an event type')
      const order = query.order ?? (since === undefined ? 'desc' : 'asc')
      const cursorFilter = ['events', type, accountId, since, order]
      const page = pageRequest(query, cursorFilter, ['integer'])
      const feed = eventFeed(db.read)
      const filter: EventFilter = { type, accountId, ...(await findStart('query.since', since)) }
      const [from] = page.after ?? []
      const rows = await feed.list(filter, order, { from, offset: page.offset, limit: page.limit + 1 })
      const counted = await feed.count(filter, MAX_COUNT)
      const isFiltered = (type ?? accountId ?? since) !== undefined
      const total =
        isFiltered && counted > MAX_COUNT ? { count: MAX_COUNT, capped: true } : { count: counted, capped: false }
      const { items, pagination } = buildPage(rows, page, total, cursorFilter, (row) => [row.position ?? 0])
      return sendList(reply, 'events', Buffer.from(items.map(feedEventText).join()), pagination)
    },
  )

  app.get(
    '/events/:eventId',
    {
      config: READ,
      schema: {
        tags,
        operationId: 'getEvent',
        summary: 'Get an event',
        params: eventParams,
        response: { 200: eventSchema },
      },
    },
    async ({ params: { eventId } }) => {
      const row = await eventFeed(db.read).find(eventId)
      if (row === undefined) throw notFound('event', eventId)
      return feedEvent(row)
    },
  )

  app.get(
    '/events/stream',
    {
      config: READ,
      // Fastify's automatic HEAD route would read the stream to its end, and it has none.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'streamEvents',
        summary: 'Stream events',
        description:
          'Server-sent events: `id` is the position, `event` the type, `data` the event as GET /events shows it. Delivered in order and at least once. Reconnect with Last-Event-ID to miss none; the service ends a stream whose client reads too slowly. A comment at least every 30 seconds keeps the connection alive. Each key may have a limited number of open streams; a further one gets 429.',
        querystring: streamQuery,
        headers: streamHeaders,
        produces: ['text/event-stream'],
        streamed: eventSchema,
      },
    },
    async (request, reply) => {
      const { type, accountId, since } = request.query
      const types = parseSubscriptions(type)
      const lastId = request.headers['last-event-id']
      const { afterPosition } = lastId
        ? await findStart('headers.last-event-id', lastId)
        : await findStart('query.since', since)
      const body = streams.open({
        position: afterPosition ?? (await eventFeed(db.read).lastPosition()),
        isLatest: afterPosition === undefined,
        filter: {
          typesKey: types.toSorted().join(),
          acceptsType: (eventType) => deps.subscribes(types, eventType),
          accountId,
        },
        owner: request.caller?.owner ?? '',
        connection: reply.raw,
      })
      return sendEventStream(request, reply, body)
    },
  )

  function parseSubscriptions(text: string | undefined): string[] {
    const types = (text ?? '').split(',').flatMap((part) => part.trim() || [])
    for (const type of types) {
      if (!deps.isSubscription(type, catalogue)) throw invalid('query.type', `"${type}" is not an event type`)
    }
    return types
  }

  /** A time also yields a position, so that the query does not scan older events. */
  async function findStart(
    path: string,
    since: string | undefined,
  ): Promise<Pick<EventFilter, 'afterPosition' | 'sinceMs'>> {
    if (since === undefined) return {}
    if (POSITION.test(since)) return { afterPosition: Number(since) }
    const sinceMs = parseTime(since)
    if (sinceMs === undefined)
      throw invalid(path, 'must be a position or an RFC 3339 time, such as 2026-01-31T08:00:00Z')
    return { sinceMs, afterPosition: await eventFeed(db.read).positionBefore(sinceMs) }
  }
}
