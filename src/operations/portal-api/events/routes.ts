import type { Handle } from '../../../platform/db/index.ts'
import type { App } from '../../../platform/http/index.ts'
import { namesQuery, namesSchema, parseIds } from './api.ts'

/** Route for the pages of events and deliveries, beside the API: the addresses of a page's accounts. */
export function eventRoutes(app: App, handle: Handle): void {
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
}
