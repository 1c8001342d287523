import { Type } from 'typebox'
import type { PushProvider, PushSubscription, PushTarget } from '../contract/index.ts'
import { type MailAccess, ProviderError } from '../contract/index.ts'
import { type RestClient, shape } from '../rest/index.ts'
import { COST, ME } from './api.ts'

const watched = shape(Type.Object({ expiration: Type.String({ pattern: '^[0-9]{1,16}$' }) }))

/**
 * Has Gmail publish to a Cloud Pub/Sub topic what changes in a mailbox, whatever its label. A mailbox has one such order: giving it
 * again replaces it, and it ends after a week.
 */
export function gmailPush(client: RestClient): PushProvider {
  async function watch(access: MailAccess, target: PushTarget): Promise<PushSubscription> {
    const doing = 'asking Gmail to tell of changes'
    if (target.kind !== 'topic') throw new ProviderError('rejected', `${doing}: it publishes to a topic only`)
    const body = { topicName: target.topicName }
    const request = { method: 'POST', path: `${ME}/watch`, doing, cost: COST.watch, body } as const
    const answer = client.mailbox(access).json(request, watched)
    const { expiration } = await answer.catch((error: unknown) => {
      const isTopic = error instanceof ProviderError && error.kind === 'not_found'
      throw isTopic
        ? new ProviderError('rejected', `${doing}: there is no topic of this name`, { cause: error })
        : error
    })
    return { id: access.email, expiresAt: Number(expiration) }
  }

  return {
    begin: watch,
    renew: (access, _id, target) => watch(access, target),
    async end(access) {
      const request = { method: 'POST', path: `${ME}/stop`, doing: 'asking Gmail to stop', cost: COST.stop } as const
      await client.mailbox(access).json(request, () => undefined)
    },
  }
}
