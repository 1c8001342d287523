import type { Handle, Tx } from '../../../platform/db/index.ts'
import type { App, Idempotency } from '../../../platform/http/index.ts'
import { namesQuery, namesSchema, parseIds, replayBody, replayParams, replaySchema } from './api.ts'

export interface EventDeps {
  idempotency: Idempotency
  /** Sends an event to an endpoint and returns the id of the delivery. Throws not_found, conflict. */
  replayEvent(tx: Tx, what: { eventId: string; endpointId: string }): Promise<string>
}

/** Routes for the pages of events and deliveries, beside the API: the addresses of a page's accounts, and single events sent again. */
export function eventRoutes(app: App, handle: Handle, { idempotency, replayEvent }: EventDeps): void {
  app.get(
    '/admin/account-names',
    {
      config: { access: 'key:read' },
      schema: { hide: true, querystring: namesQuery, response: { 200: namesSchema } },
    },
    async ({ query }) => {
      const ids = parseIds(query.ids)
      const rows = await handle.selectFrom('accounts').select(['id', 'email']).where('id', 'in', ids).execute()
      return { names: Object.fromEntries(rows.map(({ id, email }) => [id, email])) }
    },
  )

  app.post(
    '/admin/events/:eventId/replay',
    {
      config: {
        access: 'key:write',
        audit: { action: 'event.replayed', details: ({ body }) => ({ endpointId: Object(body).endpointId }) },
      },
      schema: { hide: true, params: replayParams, body: replayBody, response: { 200: replaySchema } },
    },
    idempotency.writing(async ({ params: { eventId }, body: { endpointId } }) => async (tx) => ({
      deliveryId: await replayEvent(tx, { eventId, endpointId }),
    })),
  )
}
