import { setTimeout as sleep } from 'node:timers/promises'
import type { Posthorn } from '@posthorn/sdk'
import type { DemoApplication } from './application/application.ts'
import { runBooking } from './booking.ts'
import { demoCurl } from './curl.ts'
import type { DemoMailbox } from './mailbox.ts'
import type { DemoService } from './service.ts'
import type { Story } from './story.ts'
import type { Visitor } from './visitor.ts'

export interface Scenario {
  story: Story
  posthorn: Posthorn
  service: Pick<DemoService, 'url' | 'key'>
  mailbox: DemoMailbox
  application: DemoApplication
  /** Undefined: a person uses the application's page, and takes as long as they like. */
  visitor: Visitor | undefined
  /** Also offer times, and wait for a booking. */
  books?: boolean
  /** Aborted when the demo is stopped. */
  ended: AbortSignal
}

const WEBHOOK_TIMEOUT_MS = 20_000
const SYNC_TIMEOUT_MS = 20_000

/** Connects a mailbox, lists it and receives a webhook. Returns the id of the account. Throws when a step fails. */
export async function runScenario(scenario: Scenario): Promise<string> {
  await registerEndpoint(scenario)
  const accountId = await connectMailbox(scenario)
  await listMessages(scenario, accountId)
  await receiveMessage(scenario, accountId)
  if (scenario.books === true) await runBooking(scenario)
  return accountId
}

function registerEndpoint({ story, posthorn, service, application }: Scenario): Promise<void> {
  const body = { url: application.webhookUrl, eventTypes: ['*'] }
  return story.step(
    'endpoint',
    async () => application.webhooks.trust((await posthorn.endpoints.create(body)).secret ?? ''),
    () => ({
      lines: [
        `POST /webhooks/endpoints → events go to ${application.webhookUrl}`,
        'The response contains the signing secret, which is shown only once.',
      ],
      curl: demoCurl(service, 'POST', '/webhooks/endpoints', body),
    }),
  )
}

function connectMailbox({ story, posthorn, mailbox, application, visitor, ended }: Scenario): Promise<string> {
  return story.step(
    'connect',
    async () => {
      await registerRedirect(posthorn, mailbox)
      await visitor?.connect()
      return application.connecting.connected(ended)
    },
    (accountId) => ({
      lines: [
        'POST /auth/sessions → a one-time link to the hosted pages.',
        `The browser returns to the application with account ${accountId}.`,
      ],
      ...(visitor === undefined && { tookMs: null }),
    }),
  )
}

/** An operator does this once in the provider's console. */
async function registerRedirect(posthorn: Posthorn, { provider, allowRedirect }: DemoMailbox): Promise<void> {
  if (provider === 'imap') return
  const { data } = await posthorn.health.getDetailed()
  const uri = data.providers.find(({ name }) => name === provider)?.redirectUri
  if (uri === undefined) throw new Error(`The service does not offer ${provider}.`)
  allowRedirect(uri)
}

function listMessages({ story, service, application, ended }: Scenario, accountId: string): Promise<void> {
  const path = `/accounts/${accountId}/messages`
  const { inbox } = application
  return story.step(
    'list',
    async () => {
      const deadline = performance.now() + SYNC_TIMEOUT_MS
      for (;;) {
        await inbox.load(accountId)
        if (inbox.messages.length > 0) return
        if (performance.now() > deadline) throw new Error('The first sync stored no messages.')
        await sleep(50, undefined, { signal: ended })
      }
    },
    () => ({
      lines: [
        `GET ${path} → ${inbox.total} messages:`,
        ...inbox.messages.map(
          ({ unread, subject, from }) => `  ${unread ? '●' : ' '} ${subject} (${from?.name || from?.email})`,
        ),
      ],
      curl: demoCurl(service, 'GET', path),
    }),
  )
}

async function receiveMessage(scenario: Scenario, accountId: string): Promise<void> {
  const { story, service, application, visitor, ended } = scenario
  await story.step(
    'receive',
    async () => {
      await visitor?.requestMessage()
      const signal = visitor === undefined ? ended : AbortSignal.any([ended, AbortSignal.timeout(WEBHOOK_TIMEOUT_MS)])
      return application.webhooks.waitFor(
        (webhook) => webhook.type === 'message.received' && webhook.accountId === accountId,
        signal,
      )
    },
    ({ id, data }) => ({
      // From the message to the webhook: a person may have waited before.
      tookMs: application.sentForMs(),
      lines: [
        `The mailbox received "${data.subject}".`,
        `A signed message.received webhook arrived (${id}); the standardwebhooks package verified its signature.`,
      ],
      curl: demoCurl(service, 'GET', '/webhooks/deliveries?eventType=message.received'),
    }),
  )
}
