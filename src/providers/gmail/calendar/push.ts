import { randomUUID } from 'node:crypto'
import * as Type from 'typebox'
import {
  type CalendarPush,
  type MailAccess,
  ProviderError,
  type PushSubscription,
  type PushTarget,
} from '../../contract/index.ts'
import { parser, type RestClient } from '../../shared/rest/index.ts'
import { eventsPath, ROOT } from './client.ts'

/** Google's default, and the longest. */
const LIFETIME_S = 7 * 24 * 3600
const parseChannel = parser(
  Type.Object({
    resourceId: Type.String({ minLength: 1, maxLength: 500 }),
    expiration: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$' })),
  }),
)

/** A channel for each calendar. Its id and that of the watched resource are needed to stop it. */
export function googleCalendarPush(client: RestClient, nowMs: () => number): CalendarPush {
  async function begin(access: MailAccess, calendarId: string, target: PushTarget): Promise<PushSubscription> {
    const doing = 'subscribing to the changes of a calendar'
    if (target.kind !== 'webhook') {
      throw new ProviderError('rejected', `${doing}: Google sends the changes of calendars to an https address only`)
    }
    const id = randomUUID()
    const body = {
      id,
      type: 'web_hook',
      address: target.url,
      token: target.clientState,
      params: { ttl: String(LIFETIME_S) },
    }
    const request = { method: 'POST', path: `${eventsPath(calendarId)}/watch`, doing, body } as const
    const { resourceId, expiration } = await client.mailbox(access).json(request, parseChannel)
    const expiresAt = expiration === undefined ? nowMs() + LIFETIME_S * 1000 : Number(expiration)
    return { id: `${id} ${resourceId}`, expiresAt }
  }

  async function end(access: MailAccess, subscriptionId: string): Promise<void> {
    const doing = 'ending the subscription of a calendar'
    const [id = '', resourceId = ''] = subscriptionId.split(' ')
    const request = { method: 'POST', path: `${ROOT}/channels/stop`, doing, body: { id, resourceId } } as const
    await client
      .mailbox(access)
      .json({ ...request, isRepeatable: true }, () => undefined)
      .catch((error: unknown) => {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      })
  }

  return {
    covers: 'calendar',
    begin,
    async renew(access, calendarId, id, target) {
      const subscription = await begin(access, calendarId, target)
      // The former channel would expire by itself. Until then changes are notified twice, which does no harm.
      await end(access, id).catch((error: unknown) => {
        if (!(error instanceof ProviderError)) throw error
      })
      return subscription
    },
    end,
  }
}
