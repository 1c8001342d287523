import type { Static } from 'typebox'
import * as Type from 'typebox'
import type { Accounts } from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import { isClientState } from '../../platform/crypto/client-state.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { schemaCheck } from '../../platform/formats/schema-check.ts'
import { type App, WEBHOOK_BODY_LIMIT } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import { LIFECYCLE_PATH, NOTIFICATIONS_PATH } from './graph-webhook.ts'
import { RENEWAL_TOPIC } from './scheduler.ts'
import { pushStore, type SubscriptionRow } from './store.ts'

interface PushRoutesDeps {
  db: Db
  bus: Bus
  log: Log
  accounts: Pick<Accounts, 'requestSync'>
  /** Takes the notifications of other subscriptions, to events. Returns how many are unknown, or have a wrong client state. */
  acceptOthers(provider: 'microsoft', all: readonly Notification[]): Promise<number>
}

const MAX_NOTIFICATIONS = 1000
const notificationsSchema = Type.Object({
  value: Type.Array(
    Type.Object({
      subscriptionId: Type.String({ maxLength: 128 }),
      clientState: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
      lifecycleEvent: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    { maxItems: MAX_NOTIFICATIONS },
  ),
})
const areNotifications = schemaCheck(notificationsSchema)

type Notification = Static<typeof notificationsSchema>['value'][number]

/** Graph sends all notifications from few addresses; each costs one index lookup. */
const LIMITS = { name: 'graph-notifications', address: { limit: 6000, windowMs: 60_000 } }

const querystring = Type.Object({
  validationToken: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'Sent when a subscription is created. Returned unchanged as plain text.',
    }),
  ),
})

/** Receives Graph's notifications. Public: each notification is authenticated by the `clientState` of its subscription. */
export function pushRoutes(app: App, deps: PushRoutesDeps): void {
  const { db, log } = deps

  const add = (path: string, operationId: string, summary: string) =>
    app.post(
      path,
      {
        bodyLimit: WEBHOOK_BODY_LIMIT,
        config: { access: 'public', text: true, rateLimit: LIMITS },
        schema: {
          tags: ['Push'],
          operationId,
          summary,
          description:
            'Microsoft Graph calls this path. The `clientState` of its subscription authenticates each notification.',
          querystring,
          describedBody: notificationsSchema,
          response: {
            200: Type.String({ description: 'The validation token.' }),
            202: Type.Null({ description: 'Accepted, also for unknown subscriptions.' }),
          },
        },
      },
      async (request, reply) => {
        const { validationToken } = request.query
        if (validationToken !== undefined) {
          // As plain text, so that no browser renders what the caller chose.
          return reply.code(200).type('text/plain; charset=utf-8').send(validationToken)
        }
        if (!areNotifications(request.body)) {
          throw new AppError('validation_failed', {
            message: 'The body is not a list of Microsoft Graph notifications.',
          })
        }
        await accept(request.body.value, request.id)
        return reply.code(202).send(null)
      },
    )
  add(NOTIFICATIONS_PATH, 'receiveMicrosoftNotifications', 'Receive change notifications of Microsoft Graph')
  add(LIFECYCLE_PATH, 'receiveMicrosoftLifecycleNotifications', 'Receive lifecycle notifications of Microsoft Graph')

  /** Resolves after the commit. After an error response Graph sends the notifications again. */
  async function accept(all: readonly Notification[], requestId: string): Promise<void> {
    const ids = [...new Set(all.map(({ subscriptionId }) => subscriptionId))]
    const rows = await pushStore(db.read).bySubscription('microsoft', ids)
    const bySubscription = new Map(rows.map((row) => [row.subscriptionId, row]))
    const changed = new Set<string>()
    const due = new Map<SubscriptionRow, { isRemoved: boolean }>()
    const others = all.filter(({ subscriptionId }) => !bySubscription.has(subscriptionId))
    let rejected = others.length === 0 ? 0 : await deps.acceptOthers('microsoft', others)
    for (const { subscriptionId, clientState, lifecycleEvent } of all) {
      const row = bySubscription.get(subscriptionId)
      if (row === undefined) continue
      if (!isClientState(clientState, row.clientStateHash)) {
        rejected += 1
        continue
      }
      if (lifecycleEvent === undefined || lifecycleEvent === 'missed') changed.add(row.accountId)
      else if (lifecycleEvent === 'subscriptionRemoved') due.set(row, { isRemoved: true })
      else if (lifecycleEvent === 'reauthorizationRequired' && !due.has(row)) due.set(row, { isRemoved: false })
    }
    if (rejected > 0) {
      log.debug('Dropped notifications of unknown subscriptions, or with a wrong client state.', {
        operation: 'push.notifications',
        provider: 'microsoft',
        requestId,
        metadata: { rejected },
      })
    }
    if (changed.size + due.size === 0) return
    await db.transaction(async (tx) => {
      for (const [row, { isRemoved }] of due) await pushStore(tx).markDue(row, isRemoved)
      await deps.accounts.requestSync(tx, [...changed], 'changes')
      tx.afterCommit(() => {
        for (const { accountId } of due.keys()) deps.bus.publish(RENEWAL_TOPIC, accountId)
      })
    })
  }
}
