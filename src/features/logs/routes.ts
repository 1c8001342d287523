import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Cache } from '../../infra/cache/index.ts'
import { type App, pageQuery, pagination } from '../../infra/http/index.ts'
import { LOG_LEVELS, type LogFilter } from '../../infra/log/index.ts'
import { nullable, timestamp } from '../../lib/json-schema.ts'
import { pageOf, pageRequest } from '../../lib/page.ts'
import type { SharedLogs } from './replica-logs.ts'

export interface LogRoutesDeps {
  logs: Pick<SharedLogs, 'select'>
  /** Keeps where a viewer's page 1 began. */
  cache: Cache
}

const DEFAULT_LIMIT = 100
const ANCHOR_MS = 15 * 60 * 1000

const text = (description: string) => Type.Optional(Type.String({ maxLength: 200, description }))

const query = Type.Object({
  ...pageQuery,
  level: Type.Optional(
    Type.Enum([...LOG_LEVELS], { type: 'string', description: 'Exactly this level, not "at least".' }),
  ),
  accountId: text('Records about this account.'),
  provider: text('Records about this provider: gmail, microsoft, imap.'),
  operation: text('What was being done, as `room.verb`: `sync.folder`.'),
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
    instance: Type.String({ description: 'Which process wrote it.' }),
  },
  { title: 'LogEntry' },
)

export function logRoutes(app: App, { logs, cache }: LogRoutesDeps): void {
  /**
   * Page 1 begins at the newest record and says so for the pages after it: they go on where it ended, though records keep
   * coming. A cursor carries the place itself.
   */
  async function anchorOf(viewer: string, page: number): Promise<string | undefined> {
    return page === 1 ? undefined : cache.get(`logs:anchor:${viewer}`)
  }

  app.get(
    '/logs',
    {
      config: { access: 'key:read' },
      schema: {
        tags: ['Operation'],
        summary: 'List the newest log records, newest first',
        description:
          'Each replica keeps its 2000 newest records in memory; this list merges them. Later pages belong to the page 1 read last with the same filter.',
        querystring: query,
        response: {
          200: Type.Object({
            logs: Type.Array(entry),
            pagination,
            missingInstances: Type.Array(Type.String(), {
              description:
                'Replicas that did not answer in time; their records are not in the list. "unknown" when the database could not say which there are.',
            }),
          }),
        },
      },
    },
    async (request) => {
      const filter = filterOf(request.query)
      const about = ['logs', filter]
      const wanted = pageRequest(request.query, about, ['text', 'text'], DEFAULT_LIMIT)
      const viewer = viewerOf(request.caller?.owner, about, wanted.limit)
      const [upTo, before] = wanted.after ?? [await anchorOf(viewer, wanted.page)]
      const limit = wanted.offset + wanted.limit + 1
      const { entries, total, missing } = await logs.select(filter, { upTo, before, limit })
      const anchor = upTo ?? entries[0]?.id ?? ''
      if (wanted.page === 1) await cache.set(`logs:anchor:${viewer}`, anchor, ANCHOR_MS)
      const rows = entries.slice(wanted.offset)
      const { items, pagination: shown } = pageOf(rows, wanted, total, about, (row) => [anchor, row.id])
      return { logs: items, pagination: shown, missingInstances: missing }
    },
  )
}

function filterOf({ level, accountId, provider, operation }: Static<typeof query>): LogFilter {
  return { level, accountId, provider, operation }
}

function viewerOf(owner: string | undefined, about: unknown, limit: number): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, about, limit]))
    .digest('base64url')
}
