import type { Clock } from '../../platform/time/clock.ts'
import {
  type MailAccess,
  ProviderError,
  type PushProvider,
  type PushSubscription,
  type PushTarget,
} from '../contract/index.ts'
import { type Json, text, time } from '../shared/rest/index.ts'
import { type Graph, type GraphChange, segment } from './client.ts'
import type { SubscriptionChanges } from './subscription-changes.ts'

/** Graph allows a subscription to messages or events just under 10,080 minutes. */
const LIFETIME_MS = 10_000 * 60_000

interface MicrosoftPushDeps {
  openGraph(access: MailAccess): Graph
  clock: Clock
  items: 'messages' | 'events'
  /** Shared by messages and events. */
  changes: SubscriptionChanges
}

/**
 * One subscription for all messages, or events, of a mailbox. One per folder would say which folder changed, but each counts against the
 * application's limit, and new folders would have none.
 */
export function microsoftPush({ openGraph, clock, items, changes }: MicrosoftPushDeps): PushProvider {
  const expiration = () => new Date(clock.now() + LIFETIME_MS).toISOString()

  async function change(graph: Graph, method: 'POST' | 'PATCH', path: string, request: GraphChange): Promise<Json> {
    await changes.awaitTurn(request.doing)
    return graph.send(method, path, request).catch((error: unknown) => {
      if (error instanceof ProviderError && error.kind === 'rate_limited') changes.refused()
      throw error
    })
  }

  return {
    async begin(access, target) {
      const doing = 'subscribing to changes'
      const { url, lifecycleUrl, clientState } = requireWebhook(target, doing)
      const graph = openGraph(access)
      const body = {
        changeType: 'created,updated,deleted',
        // Graph expects it without a slash at the beginning.
        resource: `${graph.mailboxPath.slice(1)}/${items}`,
        clientState,
        notificationUrl: url,
        lifecycleNotificationUrl: lifecycleUrl,
        expirationDateTime: expiration(),
      }
      return subscription(await change(graph, 'POST', '/subscriptions', { body, doing }), doing)
    },
    async renew(access, id) {
      const doing = 'renewing a subscription'
      const body = { expirationDateTime: expiration() }
      const response = await change(openGraph(access), 'PATCH', `/subscriptions/${segment(id)}`, { body, doing })
      return subscription({ id, ...response }, doing)
    },
    async end(access, id) {
      const doing = 'ending a subscription'
      changes.count()
      await openGraph(access)
        .send('DELETE', `/subscriptions/${segment(id)}`, { doing })
        .catch((error: unknown) => {
          if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
        })
    },
  }
}

function requireWebhook(target: PushTarget, doing: string) {
  if (target.kind === 'webhook') return target
  throw new ProviderError('rejected', `${doing}: Graph sends notifications to an https address only`)
}

function subscription(response: Json, doing: string): PushSubscription {
  const [id, expiresAt] = [text(response.id), time(response.expirationDateTime)]
  if (id === undefined || expiresAt === undefined) {
    throw new ProviderError('unavailable', `${doing}: the response could not be read`)
  }
  return { id, expiresAt }
}
