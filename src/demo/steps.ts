import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../lib/clock.ts'
import type { DemoApi } from './api.ts'
import type { MessageText } from './messages.ts'
import type { Narrator } from './narrator.ts'
import type { DemoReceiver } from './receiver.ts'

/** What every scenario needs. */
export interface ScenarioContext {
  narrator: Narrator
  api: DemoApi
  receiver: DemoReceiver
}

interface MessageList {
  messages: { id: string; subject: string; from: { name: string; email: string } | null; unread: boolean }[]
  pagination: { total: number }
}

const WEBHOOK_TIMEOUT_MS = 20_000
const SYNC_TIMEOUT_MS = 20_000

export function registerWebhook({ narrator, api, receiver }: ScenarioContext): Promise<void> {
  return narrator.step(
    'The application registers a webhook endpoint',
    async () => {
      const endpoint = await api.post<{ secret: string }>('/webhooks/endpoints', {
        url: receiver.url,
        eventTypes: ['*'],
      })
      receiver.trust(endpoint.secret)
    },
    () => [
      `POST /webhooks/endpoints → events go to ${receiver.url}`,
      'The response contains the signing secret, which is shown only once.',
    ],
  )
}

export function listMessages({ narrator, api }: ScenarioContext, accountId: string): Promise<MessageList> {
  return narrator.step(
    'The application lists the messages',
    async () => {
      const deadline = performance.now() + SYNC_TIMEOUT_MS
      for (;;) {
        const list = await api.get<MessageList>(`/accounts/${accountId}/messages?limit=5`)
        if (list.messages.length > 0) return list
        if (performance.now() > deadline) throw new Error('The first sync stored no messages.')
        await sleep(50)
      }
    },
    (list) => [
      `GET /accounts/${accountId}/messages → ${list.pagination.total} messages:`,
      ...list.messages.map(
        (message) =>
          `  ${message.unread ? '●' : ' '} ${message.subject} (${message.from?.name || message.from?.email})`,
      ),
    ],
  )
}

/** `deliver` puts the message into the mailbox. */
export function receiveMail(
  { narrator, receiver }: ScenarioContext,
  accountId: string,
  deliver: (message: MessageText) => Promise<unknown>,
): Promise<unknown> {
  const arriving: MessageText = {
    from: 'Luigi Menabrea <luigi@demo.posthorn.example>',
    subject: 'Your notes, translated',
    text: 'Dear Ada, the translation is ready. Shall I add your notes?',
    sentAt: new Date(systemClock.now()),
  }
  return narrator.step(
    'A new message arrives, and the application receives a webhook',
    async () => {
      const received = receiver.waitFor(
        'message.received',
        (event) => event.accountId === accountId && event.data.subject === arriving.subject,
        WEBHOOK_TIMEOUT_MS,
      )
      await deliver(arriving)
      return received
    },
    (event) => [
      `The mail server received "${arriving.subject}" from Luigi.`,
      `A signed message.received webhook arrived (${event.id}); the standardwebhooks package verified its signature.`,
    ],
  )
}
