import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Bus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { App } from '../../infra/http/index.ts'
import type { Log } from '../../infra/log/index.ts'
import { AppError } from '../../lib/errors.ts'
import type { Accounts } from '../accounts/index.ts'
import { isProof } from './client-state.ts'
import { RENEWAL_TOPIC } from './renewal.ts'
import { pushStore, type SubscriptionRow } from './store.ts'
import { LIFECYCLE_PATH, NOTIFICATIONS_PATH } from './target.ts'

export interface PushRoutesDeps {
  db: Db
  bus: Bus
  log: Log
  accounts: Pick<Accounts, 'requestSync'>
}

const MAX_NOTICES = 1000
const noticesSchema = Type.Object({
  value: Type.Array(
    Type.Object({
      subscriptionId: Type.String({ maxLength: 128 }),
      clientState: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
      lifecycleEvent: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    { maxItems: MAX_NOTICES },
  ),
})
const notices = Compile(noticesSchema)

type Notice = Static<typeof noticesSchema>['value'][number]

/** Graph speaks from few addresses for all mailboxes; what one notice costs is a look at an index. */
const LIMITS = { name: 'graph-notifications', address: { limit: 6000, windowMs: 60_000 } }

const querystring = Type.Object({
  validationToken: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'Sent when a subscription is made; answered as it came, as plain text.',
    }),
  ),
})

/** Where Microsoft Graph tells of changes. Public: each notice proves itself by the `clientState` of its subscription. */
export function pushRoutes(app: App, deps: PushRoutesDeps): void {
  const { db, log } = deps

  const add = (path: string, summary: string) =>
    app.post(
      path,
      {
        config: { access: 'public', text: true, rateLimit: LIMITS },
        schema: {
          tags: ['Push'],
          summary,
          querystring,
          response: {
            200: Type.String({ description: 'The validation token.' }),
            202: Type.Null({ description: 'Taken; also when the subscription is not known.' }),
          },
        },
      },
      async (request, reply) => {
        const { validationToken } = request.query
        if (validationToken !== undefined) {
          // As text, never to be taken for a page: whoever asks decides what stands in it.
          return reply.code(200).type('text/plain; charset=utf-8').send(validationToken)
        }
        if (!notices.Check(request.body)) {
          throw new AppError('validation_failed', { message: 'These are not notifications of Microsoft Graph.' })
        }
        await take(request.body.value, request.id)
        return reply.code(202).send(null)
      },
    )
  add(NOTIFICATIONS_PATH, 'Where Microsoft Graph tells of changes')
  add(LIFECYCLE_PATH, 'Where Microsoft Graph tells of the life of its subscriptions')

  /** Taken only when committed: after any other answer Graph sends them again. */
  async function take(all: readonly Notice[], requestId: string): Promise<void> {
    const ids = [...new Set(all.map(({ subscriptionId }) => subscriptionId))]
    const rows = await pushStore(db.read).bySubscription('microsoft', ids)
    const known = new Map(rows.map((row) => [row.subscriptionId, row]))
    const look = new Set<string>()
    const tend = new Map<SubscriptionRow, { isGone: boolean }>()
    let unproven = 0
    for (const { subscriptionId, clientState, lifecycleEvent } of all) {
      const row = known.get(subscriptionId)
      if (row === undefined || !isProof(clientState, row.clientStateHash)) {
        unproven += 1
        continue
      }
      if (lifecycleEvent === undefined || lifecycleEvent === 'missed') look.add(row.accountId)
      else if (lifecycleEvent === 'subscriptionRemoved') tend.set(row, { isGone: true })
      else if (lifecycleEvent === 'reauthorizationRequired' && !tend.has(row)) tend.set(row, { isGone: false })
    }
    if (unproven > 0) {
      log.debug('Notices of unknown subscriptions were dropped.', {
        ...{ operation: 'push.notices', provider: 'microsoft', requestId, metadata: { unproven } },
      })
    }
    if (look.size + tend.size === 0) return
    await db.transaction(async (tx) => {
      for (const [row, { isGone }] of tend) await pushStore(tx).due(row, isGone)
      await deps.accounts.requestSync(tx, [...look], 'changes')
      tx.afterCommit(() => {
        for (const { accountId } of tend.keys()) deps.bus.publish(RENEWAL_TOPIC, accountId)
      })
    })
  }
}
