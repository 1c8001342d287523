import * as Type from 'typebox'
import {
  type MailAccess,
  ProviderError,
  type PushProvider,
  type PushSubscription,
  type PushTarget,
} from '../contract/index.ts'
import { parser } from '../shared/rest/index.ts'
import { ME } from './client.ts'
import type { GmailClient } from './quota.ts'

const parseWatch = parser(Type.Object({ expiration: Type.String({ pattern: '^[0-9]{1,16}$' }) }))

/**
 * Makes Gmail publish the changes of a mailbox, under any label, to a Cloud Pub/Sub topic. A mailbox has one watch: a second one
 * replaces it, and it expires after a week.
 */
export function gmailPush(client: GmailClient): PushProvider {
  async function watch(access: MailAccess, target: PushTarget): Promise<PushSubscription> {
    const doing = 'subscribing to the changes of a Gmail mailbox'
    if (target.kind !== 'topic') throw new ProviderError('rejected', `${doing}: Gmail publishes to a topic only`)
    const body = { topicName: target.topicName }
    const mailbox = client.mailbox(access)
    const request = { method: 'POST', path: `${ME}/watch`, doing, cost: mailbox.costs.watch, body } as const
    const response = mailbox.json(request, parseWatch)
    const { expiration } = await response.catch((error: unknown) => {
      const isTopicMissing = error instanceof ProviderError && error.kind === 'not_found'
      throw isTopicMissing
        ? new ProviderError('rejected', `${doing}: the topic does not exist`, { cause: error })
        : error
    })
    return { id: access.email, expiresAt: Number(expiration) }
  }

  return {
    begin: watch,
    renew: (access, _id, target) => watch(access, target),
    async end(access) {
      const doing = 'ending the subscription of a Gmail mailbox'
      const mailbox = client.mailbox(access)
      const request = { method: 'POST', path: `${ME}/stop`, doing, cost: mailbox.costs.stop } as const
      await mailbox.json(request, () => undefined)
    },
  }
}
