import { EVENT_TYPES, type EventFilter, eventFeed } from '../../events/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { App } from '../../infra/http/index.ts'
import { invalid, notFound } from '../../lib/errors.ts'
import { pageOf, pageRequest } from '../../lib/page.ts'
import { parseTime } from '../../lib/time.ts'
import { eventList, eventParams, listQuery, streamedEventSchema, streamHeaders, streamQuery } from './api.ts'
import { eventView } from './event-view.ts'
import type { EventStreams } from './streams.ts'

const tags = ['Events']
const READ = { access: 'key:read' } as const

/** With a filter, counting stops here. */
const MAX_COUNT = 10_000
const POSITION = /^\d{1,15}$/
/** Dead clients are noticed though nothing is ever written to them. */
const KEEP_ALIVE_MS = 60_000

export interface FeedDeps {
  db: Db
  streams: EventStreams
  /** Does this subscription (`message.*`) mean any event type? */
  isSubscription(text: string): boolean
  subscribes(subscriptions: readonly string[], type: string): boolean
}

export function feedRoutes(app: App, deps: FeedDeps): void {
  const { db, streams } = deps

  app.get(
    '/events',
    {
      config: READ,
      schema: {
        tags,
        summary: 'List events',
        description: 'In the order of position. An event is listed as soon as it is handed to the webhooks.',
        querystring: listQuery,
        response: { 200: eventList },
      },
    },
    async ({ query }) => {
      const { type, accountId, since } = query
      if (type !== undefined && !EVENT_TYPES.some((known) => known === type)) {
        throw invalid('query.type', 'is not an event type')
      }
      const order = query.order ?? (since === undefined ? 'desc' : 'asc')
      const about = ['events', type, accountId, since, order]
      const wanted = pageRequest(query, about, ['integer'])
      const feed = eventFeed(db.read)
      const filter: EventFilter = { type, accountId, ...(await beginning(since)) }
      const [from] = wanted.after ?? []
      const rows = await feed.list(filter, order, { from, offset: wanted.offset, limit: wanted.limit + 1 })
      const counted = await feed.count(filter, MAX_COUNT)
      const isFiltered = (type ?? accountId ?? since) !== undefined
      const total =
        isFiltered && counted > MAX_COUNT ? { count: MAX_COUNT, capped: true } : { count: counted, capped: false }
      const { items, pagination } = pageOf(rows, wanted, total, about, (row) => [row.position ?? 0])
      return { events: items.map(eventView), pagination }
    },
  )

  app.get(
    '/events/:eventId',
    {
      config: READ,
      schema: { tags, summary: 'Get an event', params: eventParams, response: { 200: streamedEventSchema } },
    },
    async ({ params: { eventId } }) => {
      const row = await eventFeed(db.read).find(eventId)
      if (row === undefined) throw notFound('event', eventId)
      return eventView(row)
    },
  )

  app.get(
    '/events/stream',
    {
      config: READ,
      // Fastify's own HEAD would read the stream to its end, which never comes.
      exposeHeadRoute: false,
      schema: {
        tags,
        summary: 'Read events as they happen',
        description:
          'Server-sent events: `id` is the position, `event` the type, `data` the event as GET /events shows it. Comes at least once and in order; reconnect with Last-Event-ID to miss nothing. A comment every 10 seconds says that it is alive.',
        querystring: streamQuery,
        headers: streamHeaders,
        produces: ['text/event-stream'],
      },
    },
    async (request, reply) => {
      const { type, accountId, since } = request.query
      const types = typesOf(type)
      const { afterPosition } = await beginning(request.headers['last-event-id'] || since)
      const stream = streams.open(
        afterPosition ?? (await eventFeed(db.read).lastPosition()),
        (head) => deps.subscribes(types, head.type) && (accountId === undefined || head.accountId === accountId),
        reply.raw,
      )
      request.raw.socket.setKeepAlive(true, KEEP_ALIVE_MS)
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store, no-transform')
        .header('x-accel-buffering', 'no')
        .send(stream)
    },
  )

  function typesOf(text: string | undefined): string[] {
    const types = (text ?? '').split(',').flatMap((part) => part.trim() || [])
    for (const type of types)
      if (!deps.isSubscription(type)) throw invalid('query.type', `"${type}" is not an event type`)
    return types
  }

  /** A time becomes a position as well, so that nothing older is looked at. */
  async function beginning(since: string | undefined): Promise<Pick<EventFilter, 'afterPosition' | 'sinceMs'>> {
    if (since === undefined) return {}
    if (POSITION.test(since)) return { afterPosition: Number(since) }
    const sinceMs = parseTime(since)
    if (sinceMs === undefined) throw invalid('query.since', 'must be a position or a time such as 2026-01-31T08:00:00Z')
    return { sinceMs, afterPosition: await eventFeed(db.read).positionBefore(sinceMs) }
  }
}
