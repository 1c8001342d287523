import type { Posthorn } from '@posthorn/sdk'
import { demoCurl } from '../curl.ts'
import type { DemoMailbox } from '../mailbox.ts'
import { nextMessage } from '../messages.ts'
import type { DemoService } from '../service.ts'
import type { Story } from '../story.ts'
import { type Connecting, connecting } from './connecting.ts'
import { type Inbox, inbox } from './inbox.ts'
import { portalSignIn } from './portal.ts'
import { startApplicationServer } from './server.ts'
import { type ReceivedWebhooks, receivedWebhooks } from './webhooks.ts'

/**
 * The application of the demo: it connects mailboxes through the hosted pages, receives webhooks, and shows both on a page of
 * its own. It uses the service over HTTP only.
 */
export interface DemoApplication {
  /** Its page. */
  url: string
  webhookUrl: string
  /** Signs the browser in to the portal of the service, once. */
  portalUrl: string
  webhooks: ReceivedWebhooks
  connecting: Connecting
  inbox: Inbox
  /** How long ago the last message was sent to the mailbox; null before the first one. */
  sentForMs(): number | null
  /** Shows the button that leads to this booking page. */
  offer(bookingUrl: string): void
  close(): Promise<void>
}

interface ApplicationDeps {
  posthorn: Posthorn
  service: Pick<DemoService, 'url' | 'key' | 'password'>
  mailbox: DemoMailbox
  story: Story
  /** Milliseconds since 1970. */
  now(): number
}

export async function startDemoApplication(deps: ApplicationDeps): Promise<DemoApplication> {
  const { posthorn, service, mailbox, story, now } = deps
  const webhooks = receivedWebhooks()
  const messages = inbox(posthorn, () => server.changed())
  let accountId: string | null = null
  let notice: string | null = null
  let bookingUrl: string | null = null
  let sent = 0
  let sentAtMs: number | null = null
  const portal = portalSignIn(service)

  const server = await startApplicationServer({
    service,
    mailbox,
    story,
    view: () => ({
      connected: accountId !== null,
      user: mailbox.user,
      notice,
      steps: story.steps,
      inbox: { messages: messages.messages, total: messages.total },
      webhooks: webhooks.newest,
      bookable: bookingUrl !== null,
    }),
    receive: webhooks.receive,
    connect: () => connection.begin(),
    async returned(query) {
      const connectedId = await connection.finish(query)
      notice = connectedId === null ? 'No mailbox was connected. You can connect one at any time.' : null
      accountId = connectedId ?? accountId
      if (connectedId !== null) messages.refresh(connectedId)
      server.changed()
    },
    bookingUrl: () => bookingUrl,
    portal,
    async send() {
      if (accountId === null) return
      const message = nextMessage(sent, now())
      sent += 1
      sentAtMs = now()
      await mailbox.deliver(message)
      // Without push the service polls these providers every 30 s; the demo requests a sync instead of waiting.
      if (mailbox.provider !== 'imap') await posthorn.accounts.sync(accountId)
    },
  })
  const redirectUri = `${server.url}/connected`
  const connection = connecting(posthorn, mailbox, redirectUri)
  const body = { email: mailbox.user, redirectUri }
  story.showCurl('connect', demoCurl(service, 'POST', '/auth/sessions', body))
  story.onChange(() => server.changed())
  webhooks.onReceived((webhook) => {
    server.changed()
    if (webhook.accountId !== null && webhook.accountId === accountId) messages.refresh(webhook.accountId)
  })
  return {
    ...server,
    webhookUrl: `${server.url}/webhooks`,
    portalUrl: server.url + portal.path,
    webhooks,
    connecting: connection,
    inbox: messages,
    sentForMs: () => (sentAtMs === null ? null : now() - sentAtMs),
    offer(url) {
      bookingUrl = url
      server.changed()
    },
  }
}
