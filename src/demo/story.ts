import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../lib/clock.ts'
import type { DemoApi } from './api.ts'
import { browser, type Page } from './browser.ts'
import type { DemoMailServer } from './mail-server.ts'
import type { MailText } from './mails.ts'
import type { Narrator } from './narrator.ts'
import type { DemoReceiver } from './receiver.ts'

/** Where the story happens; all of it runs in this process, on loopback. */
export interface Stage {
  narrator: Narrator
  api: DemoApi
  mail: DemoMailServer
  receiver: DemoReceiver
}

interface MessageList {
  messages: { id: string; subject: string; from: { name: string; email: string } | null; unread: boolean }[]
  pagination: { total: number }
}

const APP_URL = 'http://localhost:3000/connected'
const WEBHOOK_TIMEOUT_MS = 20_000
const SYNC_TIMEOUT_MS = 20_000

/** The main job, told step by step; answers the id of the connected account. Throws when any step does not happen. */
export async function tellStory(stage: Stage): Promise<string> {
  await registerWebhook(stage)
  const accountId = await connectMailbox(stage)
  await listMessages(stage, accountId)
  await receiveMail(stage, accountId)
  return accountId
}

function registerWebhook({ narrator, api, receiver }: Stage): Promise<void> {
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
      'The signing secret was shown once, in that answer.',
    ],
  )
}

function connectMailbox({ narrator, api, mail }: Stage): Promise<string> {
  return narrator.step(
    'An end user connects a mailbox through the hosted pages',
    async () => {
      const session = await api.post<{ authUrl: string; code: string }>('/auth/sessions', {
        provider: 'imap',
        email: mail.user,
        redirectUri: APP_URL,
      })
      const visitor = browser()
      const continueUrl = await walkThrough(visitor.submit, await visitor.open(session.authUrl), mail)
      const back = new URL(continueUrl)
      const accountId = back.searchParams.get('accountId')
      if (back.searchParams.get('status') !== 'success' || accountId === null) {
        throw new Error(`the pages ended at ${back.origin}${back.pathname} without an account`)
      }
      return accountId
    },
    (accountId) => [
      'POST /auth/sessions → a one-time link; the pages behind it asked for the mail server and the password.',
      `The browser is sent back to ${APP_URL} with account ${accountId}.`,
    ],
  )
}

const MAX_PAGES = 4

async function walkThrough(
  submit: (page: Page, values: Record<string, string>) => Promise<Page>,
  first: Page,
  mail: DemoMailServer,
): Promise<string> {
  let page = first
  for (let count = 0; count < MAX_PAGES; count += 1) {
    if (page.continueUrl !== undefined) return page.continueUrl
    const asked = page.form?.fields ?? {}
    const answers = {
      email: mail.user,
      host: mail.host,
      port: String(mail.port),
      username: mail.user,
      password: mail.password,
    }
    const known = Object.entries(answers).filter(([name]) => name in asked)
    page = await submit(page, {
      ...Object.fromEntries(known),
      ...('password' in asked && { secure: 'true', allowSelfSigned: 'true' }),
    })
  }
  throw new Error(`the hosted pages did not finish; the last one is "${page.title}"`)
}

function listMessages({ narrator, api }: Stage, accountId: string): Promise<MessageList> {
  return narrator.step(
    'The application lists the messages',
    async () => {
      const deadline = performance.now() + SYNC_TIMEOUT_MS
      for (;;) {
        const list = await api.get<MessageList>(`/accounts/${accountId}/messages?limit=5`)
        if (list.messages.length > 0) return list
        if (performance.now() > deadline) throw new Error('the first sync brought no messages')
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

function receiveMail({ narrator, mail, receiver }: Stage, accountId: string): Promise<unknown> {
  const arriving: MailText = {
    from: 'Luigi Menabrea <luigi@demo.posthorn.example>',
    subject: 'Your notes, translated',
    text: 'Dear Ada, the translation is ready. Shall I add your notes?',
    sentAt: new Date(systemClock.now()),
  }
  return narrator.step(
    'A new mail arrives, and the application hears of it',
    async () => {
      const received = receiver.waitFor(
        'message.received',
        (event) => event.accountId === accountId && event.data.subject === arriving.subject,
        WEBHOOK_TIMEOUT_MS,
      )
      await mail.deliver(arriving)
      return received
    },
    (event) => [
      `The mail server took "${arriving.subject}" from Luigi.`,
      `A signed message.received webhook arrived (${event.id}); the standardwebhooks package verified its signature.`,
    ],
  )
}
