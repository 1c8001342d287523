import * as Type from 'typebox'
import type { Accounts } from '../../accounts/index.ts'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import type { App, Idempotency } from '../../platform/http/index.ts'
import type { Queue } from '../../platform/queue/index.ts'
import { isoTimeOrNull } from '../../platform/time/time.ts'
import { type DebouncedQueueSources, debouncedQueue } from './debounced-queue.ts'
import { readUnreadable } from './unreadable/operator-list.ts'

const statusSchema = Type.Object(
  {
    provider: Type.Enum(['database', 'redis'], { type: 'string' }),
    waiting: Type.Integer({ description: 'Accounts due now.' }),
    active: Type.Integer({ description: 'Accounts syncing now.' }),
    delayed: Type.Integer({ description: 'Accounts waiting for their next poll or for a retry.' }),
    completed: Type.Integer({ description: 'Successful runs since the running instances started.' }),
    failed: Type.Integer({ description: 'Failed runs since the running instances started.' }),
    paused: Type.Boolean({ description: 'Always false.' }),
    accounts: Type.Integer({ description: 'Accounts owned by the running instances.' }),
  },
  { title: 'DebouncedQueueStatus' },
)

const unreadableSchema = Type.Object(
  {
    kind: Type.Enum(['message', 'folder'], { type: 'string' }),
    providerId: Type.String({ description: 'The id of the message or folder at the provider.' }),
    folder: nullable(Type.String({ description: 'Its name. null when it is not known.' })),
    reason: Type.String({ description: 'The last failure.' }),
    failures: Type.Integer({ description: 'Consecutive failures. After three, a message is stored without content.' }),
    failedAt: timestamp('The first failure.'),
    nextAttemptAt: timestamp(),
  },
  { title: 'UnreadableItem' },
)

const accountSchema = Type.Object(
  {
    accountId: Type.String(),
    state: Type.Enum(['idle', 'waiting', 'active'], { type: 'string' }),
    pending: Type.Integer({ description: 'Planned runs: 0 or 1, because several requests are merged into one run.' }),
    lastRunAt: nullable(timestamp()),
    nextRunAt: nullable(timestamp()),
    attempts: Type.Integer({ description: 'Consecutive failures.' }),
    lastError: nullable(Type.String()),
    unreadable: Type.Object(
      {
        count: Type.Integer(),
        items: Type.Array(unreadableSchema, { description: 'At most 20, those that have failed the longest first.' }),
      },
      {
        description:
          'Messages and folders that the provider does not return, although it returns others. Everything else is synced.',
      },
    ),
    lagMs: nullable(
      Type.Integer({
        description:
          'How long the next successful check is overdue; 0 while the account is checked on time. null while no check is expected (paused, auth_error), and when another instance owns the account.',
      }),
    ),
    watch: nullable(
      Type.Enum(['idle', 'push', 'poll'], {
        type: 'string',
        description:
          'How the service learns of changes: the server reports them over an open connection (idle) or by notifications (push), or the service asks for them (poll). null while it is not connected, and when another instance owns the account.',
      }),
    ),
  },
  { title: 'DebouncedQueueAccount' },
)

/** How many items that cannot be read the state of an account names. */
const MAX_SHOWN = 20

export interface DebouncedQueueDeps extends DebouncedQueueSources {
  queue: Pick<Queue, 'provider'>
  accounts: Pick<Accounts, 'resolve' | 'requestSync'>
  idempotency: Idempotency
}

export function debouncedQueueRoutes(app: App, deps: DebouncedQueueDeps): void {
  const debounced = debouncedQueue(deps)
  const tags = ['Operation']

  app.get(
    '/debounced-queue/status',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getDebouncedQueueStatus',
        summary: 'Get account sync totals',
        response: { 200: statusSchema },
      },
    },
    async () => {
      return { provider: deps.queue.provider, paused: false, ...(await debounced.status()) }
    },
  )

  app.get(
    '/debounced-queue/accounts/:accountId',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getDebouncedQueueAccount',
        summary: 'Get the sync state of an account',
        params: Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) }),
        response: { 200: accountSchema },
      },
    },
    async (request) => {
      const { id } = await deps.accounts.resolve(deps.db.read, request.params.accountId)
      const { state, attempts, lastRunAt, nextRunAt, lastError, lagMs, watch } = await debounced.account(id)
      const unreadable = await readUnreadable(deps.db.read, id, MAX_SHOWN)
      return {
        accountId: id,
        state,
        pending: nextRunAt === null ? 0 : 1,
        lastRunAt: isoTimeOrNull(lastRunAt),
        nextRunAt: isoTimeOrNull(nextRunAt),
        attempts,
        lastError,
        unreadable,
        lagMs,
        watch,
      }
    },
  )

  app.post(
    '/debounced-queue/clear',
    {
      config: { access: 'key:write', audit: 'queue.cleared' },
      schema: {
        tags,
        operationId: 'clearDebouncedQueue',
        summary: 'Sync every waiting account now',
        description: 'Resets failures and retry delays. Does not affect events, deliveries, the outbox or bookings.',
        response: { 200: Type.Object({ success: Type.Boolean(), cleared: Type.Integer() }) },
      },
    },
    deps.idempotency.writing(async () => {
      const cleared = await debounced.clear()
      return async () => ({ success: true, cleared })
    }),
  )
}
