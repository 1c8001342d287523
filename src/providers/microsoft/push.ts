import type { PushProvider, PushSubscription, PushTarget } from '../contract/index.ts'
import { type MailAccess, ProviderError } from '../contract/index.ts'
import { type Graph, segment } from './graph.ts'
import { type Json, text, time } from './json.ts'

/** Graph keeps a subscription to mail for less than 10,080 minutes. */
const LIFETIME_MS = 10_000 * 60_000

/**
 * One subscription for all mail of a mailbox. One per folder would name what changed, but counts for each folder against the
 * subscriptions an application may have, and a new folder would have none.
 */
export function microsoftPush(graphOf: (access: MailAccess) => Graph, nowMs: () => number): PushProvider {
  const expiration = () => new Date(nowMs() + LIFETIME_MS).toISOString()
  return {
    async begin(access, target) {
      const doing = 'subscribing to changes'
      const { url, lifecycleUrl, clientState } = webhookOf(target, doing)
      const body = {
        ...{ changeType: 'created,updated,deleted', resource: 'me/messages', clientState },
        ...{ notificationUrl: url, lifecycleNotificationUrl: lifecycleUrl, expirationDateTime: expiration() },
      }
      return subscription(await graphOf(access).send('POST', '/subscriptions', { body, doing }), doing)
    },
    async renew(access, id) {
      const doing = 'renewing a subscription'
      const body = { expirationDateTime: expiration() }
      const answer = await graphOf(access).send('PATCH', `/subscriptions/${segment(id)}`, { body, doing })
      return subscription({ id, ...answer }, doing)
    },
    async end(access, id) {
      const doing = 'ending a subscription'
      await graphOf(access)
        .send('DELETE', `/subscriptions/${segment(id)}`, { doing })
        .catch((error: unknown) => {
          if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
        })
    },
  }
}

function webhookOf(target: PushTarget, doing: string) {
  if (target.kind === 'webhook') return target
  throw new ProviderError('rejected', `${doing}: Graph tells of changes at an address only`)
}

function subscription(answer: Json, doing: string): PushSubscription {
  const [id, expiresAt] = [text(answer.id), time(answer.expirationDateTime)]
  if (id === undefined || expiresAt === undefined) {
    throw new ProviderError('unavailable', `${doing}: the answer could not be read`)
  }
  return { id, expiresAt }
}
