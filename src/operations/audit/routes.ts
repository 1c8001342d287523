import * as Type from 'typebox'
import type { Db } from '../../platform/db/index.ts'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { buildPage, pageRequest } from '../../platform/formats/pagination.ts'
import { type App, listSchema, pageQuery } from '../../platform/http/index.ts'
import { isoTime, requireTime } from '../../platform/time/time.ts'
import { auditStore } from './store.ts'
import type { AuditRow } from './tables.ts'

const text = (description: string) => Type.Optional(Type.String({ maxLength: 200, description }))

const query = Type.Object({
  ...pageQuery,
  actor: text('Entries of this actor: `service`, `key:<id>` or `admin:<user>`.'),
  action: text('Entries of exactly this action, such as `endpoint.deleted`.'),
  target: text('Entries about the object with this id.'),
  since: Type.Optional(timestamp('Entries from this time on.')),
})

const entry = Type.Object(
  {
    id: Type.String({ examples: ['aud_01jd8e4v5t6y7n8m9p0q1r2s3t'] }),
    timestamp: timestamp(),
    actor: Type.String({
      description:
        '`service` (SERVICE_API_KEY), `key:<id>`, `admin:<user>` in the portal, or `public` for a failed sign-in.',
    }),
    action: Type.String({ examples: ['endpoint.created'] }),
    target: nullable(Type.String({ description: 'The id of the object.' })),
    requestId: nullable(Type.String()),
    address: nullable(Type.String({ description: 'The address of the client.' })),
    details: Type.Object(
      {},
      { additionalProperties: true, description: '`changed` names the members of the request. Contains no secrets.' },
    ),
  },
  { title: 'AuditEntry' },
)

export function auditRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/audit',
    {
      config: { access: 'key:admin' },
      schema: {
        tags: ['Operation'],
        operationId: 'listAuditEntries',
        summary: 'List audit log entries, newest first',
        description:
          'Changes of keys, endpoints, accounts, deliveries, the queue, settings and experiences, and sign-ins to the portal. Kept for RETENTION_AUDIT_DAYS.',
        querystring: query,
        response: { 200: listSchema('entries', entry) },
      },
    },
    async ({ query: { actor, action, target, since, ...page } }) => {
      const sinceMs = since === undefined ? undefined : requireTime('query.since', since)
      const cursorFilter = ['audit', actor, action, target, since]
      const request = pageRequest(page, cursorFilter, ['integer', 'text'])
      const store = auditStore(db.read)
      const filter = { actor, action, target, sinceMs }
      const [rows, total] = [await store.list(filter, request), await store.count(filter)]
      const { items, pagination } = buildPage(rows, request, total, cursorFilter, (row) => [row.at, row.id])
      return { entries: items.map(toView), pagination }
    },
  )
}

function toView({ at, details, ...row }: AuditRow) {
  return { ...row, timestamp: isoTime(at), details: JSON.parse(details) }
}
