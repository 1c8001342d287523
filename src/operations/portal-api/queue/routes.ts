import * as Type from 'typebox'
import type { Accounts } from '../../../accounts/index.ts'
import type { DebouncedQueue } from '../../../mail/sync/index.ts'
import { type App, listSchema, pageQuery } from '../../../platform/http/index.ts'
import { isoTimeOrNull } from '../../../platform/time/time.ts'
import { queuedAccountSchema } from './api.ts'

export interface QueueDeps {
  accounts: Pick<Accounts, 'list' | 'get'>
  queue: Pick<DebouncedQueue, 'accounts'>
}

const query = Type.Object({ ...pageQuery, q: Type.Optional(Type.String({ maxLength: 320 })) })

/** The accounts with the states of their runs, which `GET /debounced-queue/accounts/{accountId}` has one by one. */
export function queueRoutes(app: App, { accounts, queue }: QueueDeps): void {
  app.get(
    '/admin/queued-accounts',
    {
      config: { access: 'key:read' },
      schema: { hide: true, querystring: query, response: { 200: listSchema('accounts', queuedAccountSchema) } },
    },
    async (request) => {
      const { items, pagination } = await accounts.list(request.query)
      const runs = await queue.accounts(items.map(({ id }) => id))
      return {
        accounts: items.map(({ id, email, paused }) => {
          const run = runs.get(id)
          const { state = 'idle', attempts = 0, lastError = null, lagMs = null } = run ?? {}
          const [lastRunAt, nextRunAt] = [isoTimeOrNull(run?.lastRunAt ?? null), isoTimeOrNull(run?.nextRunAt ?? null)]
          return { id, email, paused, state, attempts, lastError, lagMs, lastRunAt, nextRunAt }
        }),
        pagination,
      }
    },
  )
}
