import * as Type from 'typebox'
import { type App, WEBHOOK_BODY_LIMIT } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { CalendarNotifications } from './notifications.ts'

interface CalendarPushRoutesDeps {
  log: Log
  notifications: CalendarNotifications
}

export const GOOGLE_NOTIFICATIONS_PATH = '/providers/gmail/notifications'

/** Google sends all messages from few addresses; each costs one index lookup. */
const LIMITS = { name: 'google-notifications', address: { limit: 6000, windowMs: 60_000 } }
const header = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }))

/** Receives the messages of Google's notification channels. Public: the token of its channel authenticates each message. */
export function calendarPushRoutes(app: App, { log, notifications }: CalendarPushRoutesDeps): void {
  app.post(
    GOOGLE_NOTIFICATIONS_PATH,
    {
      bodyLimit: WEBHOOK_BODY_LIMIT,
      config: { access: 'public', text: true, rateLimit: LIMITS },
      schema: {
        tags: ['Push'],
        operationId: 'receiveGoogleCalendarNotifications',
        summary: 'Receive change notifications of Google Calendar',
        description:
          'Google calls this path. The message is in the headers, and the token of its channel authenticates it. A body is ignored.',
        headers: Type.Object({
          'x-goog-channel-id': header(128, 'The channel.'),
          'x-goog-resource-id': header(512, 'What the channel watches.'),
          'x-goog-channel-token': header(256, 'The secret of the channel.'),
          'x-goog-resource-state': header(64, '`sync` when the channel was opened, otherwise a change.'),
        }),
        response: { 202: Type.Null({ description: 'Accepted, also for unknown channels.' }) },
      },
    },
    async ({ headers, id: requestId }, reply) => {
      const { 'x-goog-channel-id': channelId = '', 'x-goog-resource-id': resourceId = '' } = headers
      const { 'x-goog-channel-token': clientState, 'x-goog-resource-state': state } = headers
      const subscriptionId = `${channelId} ${resourceId}`
      const rejected = state === 'sync' ? 0 : await notifications.accept('gmail', [{ subscriptionId, clientState }])
      if (rejected > 0) {
        log.debug('Dropped a notification of an unknown channel, or with a wrong token.', {
          operation: 'push.notifications',
          provider: 'gmail',
          requestId,
        })
      }
      return reply.code(202).send(null)
    },
  )
}
