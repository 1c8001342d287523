import type { Static } from 'typebox'
import * as Type from 'typebox'
import type { Cache } from '../../platform/cache/index.ts'
import { sha256 } from '../../platform/crypto/sha256.ts'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { buildPage, pageRequest } from '../../platform/formats/pagination.ts'
import { type App, limitQuery, pageQuery, pagination, sendEventStream } from '../../platform/http/index.ts'
import { LOG_LEVELS, type LogFilter } from '../../platform/log/index.ts'
import type { LogStreams } from './log-streams.ts'
import type { SharedLogs } from './replica-logs.ts'

export interface LogRoutesDeps {
  logs: Pick<SharedLogs, 'select'>
  streams: Pick<LogStreams, 'open'>
  /** Stores the anchor of a client's page 1. */
  cache: Cache
}

const DEFAULT_LIMIT = 100
const ANCHOR_MS = 15 * 60 * 1000

const text = (description: string) => Type.Optional(Type.String({ maxLength: 200, description }))

const filterQuery = {
  level: Type.Optional(
    Type.Enum([...LOG_LEVELS], { type: 'string', description: 'Exactly this level, not "at least".' }),
  ),
  accountId: text('Records about this account.'),
  provider: text('Records about this provider: gmail, microsoft, imap.'),
  operation: text(
    'What the service was doing, as `feature.verb`: `sync.account`, a prefix such as `sync.*`, or `*` for everything. Without it, records of HTTP requests (`http.*`) are left out unless they are warnings or errors.',
  ),
}
const query = Type.Object({ ...pageQuery, limit: limitQuery(DEFAULT_LIMIT), ...filterQuery })
const streamQuery = Type.Object(filterQuery)
const streamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Continues after this record, as browsers send it when they reconnect.',
    }),
  ),
})

const nullableText = nullable(Type.String())

const entry = Type.Object(
  {
    id: Type.String({ examples: ['log_01jd8e4v5t6y7n8m9p0q1r2s3t'] }),
    level: Type.Enum([...LOG_LEVELS], { type: 'string' }),
    message: Type.String(),
    timestamp: timestamp(),
    accountId: nullableText,
    provider: nullableText,
    operation: nullableText,
    requestId: nullableText,
    durationMs: nullable(Type.Number()),
    error: nullable(Type.Object({}, { additionalProperties: true })),
    metadata: nullable(Type.Object({}, { additionalProperties: true })),
    instance: Type.String({ description: 'The process that wrote the record.' }),
  },
  { title: 'LogEntry' },
)

/** In a stream whose client reads too slowly. */
const dropped = Type.Object(
  { count: Type.Integer({ description: 'Records that the stream left out.' }) },
  { title: 'DroppedLogEntries' },
)

export function logRoutes(app: App, { logs, streams, cache }: LogRoutesDeps): void {
  /**
   * Page 1 starts at the newest record and stores its id, so that later pages continue from there although new records arrive.
   * A cursor carries the id itself.
   */
  async function findAnchor(viewer: string, page: number): Promise<string | undefined> {
    return page === 1 ? undefined : cache.get(`logs:anchor:${viewer}`)
  }

  app.get(
    '/logs',
    {
      config: { access: 'key:read' },
      schema: {
        tags: ['Operation'],
        operationId: 'listLogs',
        summary: 'List log records, newest first',
        description:
          'Each replica keeps in memory its 2000 newest records of HTTP requests (`http.*`), and apart from them its 2000 newest records of everything else, so that requests replace no other records. The list merges those of all replicas. Later pages continue the most recent page 1 with the same filter.',
        querystring: query,
        response: {
          200: Type.Object({
            logs: Type.Array(entry),
            pagination,
            missingInstances: Type.Array(Type.String(), {
              description:
                'Replicas that did not respond in time; their records are missing. "unknown" when the list of replicas could not be read.',
            }),
          }),
        },
      },
    },
    async (request) => {
      const filter = toFilter(request.query)
      const cursorFilter = ['logs', filter]
      const page = pageRequest(request.query, cursorFilter, ['text', 'text'], DEFAULT_LIMIT)
      const viewer = anchorKey(request.caller?.owner, cursorFilter, page.limit)
      const [upTo, before] = page.after ?? [await findAnchor(viewer, page.page)]
      const limit = page.offset + page.limit + 1
      const { entries, total, missing } = await logs.select(filter, { upTo, before, limit })
      const anchor = upTo ?? entries[0]?.id ?? ''
      if (page.page === 1) await cache.set(`logs:anchor:${viewer}`, anchor, ANCHOR_MS)
      const rows = entries.slice(page.offset)
      const { items, pagination: shown } = buildPage(rows, page, total, cursorFilter, (row) => [anchor, row.id])
      return { logs: items, pagination: shown, missingInstances: missing }
    },
  )

  app.get(
    '/logs/stream',
    {
      config: { access: 'key:read' },
      // Fastify's automatic HEAD route would read the stream to its end, and it has none.
      exposeHeadRoute: false,
      schema: {
        tags: ['Operation'],
        operationId: 'streamLogs',
        summary: 'Stream log records',
        description:
          'Server-sent events of all replicas: `event: log` with the record as GET /logs shows it, and its id. `event: dropped` with `{count}` when records were left out, because there were too many or the client read too slowly. Reconnect with Last-Event-ID to get the records in between, as far as the replicas still hold them. A comment at least every 30 seconds keeps the connection alive.',
        querystring: streamQuery,
        headers: streamHeaders,
        produces: ['text/event-stream'],
        streamed: Type.Union([entry, dropped]),
      },
    },
    async (request, reply) => {
      const after = request.headers['last-event-id'] || undefined
      const body = streams.open({
        filter: toFilter(request.query),
        after,
        owner: request.caller?.owner ?? '',
        connection: reply.raw,
      })
      return sendEventStream(request, reply, body)
    },
  )
}

function toFilter({ level, accountId, provider, operation }: Static<typeof streamQuery>): LogFilter {
  return { level, accountId, provider, operation }
}

function anchorKey(owner: string | undefined, filter: unknown, limit: number): string {
  return sha256(JSON.stringify([owner, filter, limit]), 'base64url')
}
