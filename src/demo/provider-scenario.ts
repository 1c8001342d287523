import { setTimeout as sleep } from 'node:timers/promises'
import { browser } from './browser.ts'
import type { EmulatedProvider, ProviderEmulator } from './provider-emulator.ts'
import { listMessages, receiveMail, registerWebhook, type ScenarioContext } from './steps.ts'

/** What the scenario needs. */
export interface ProviderScenario extends ScenarioContext {
  name: EmulatedProvider
  site: ProviderEmulator
  /** Aborted when the demo is stopped. */
  ended: AbortSignal
  /** True: the demo submits the pages itself. False: it waits for a person with a browser. */
  alone: boolean
}

interface Session {
  authUrl: string
  code: string
}

/** Connects a mailbox at the provider, lists it and receives a webhook. Returns the account id. Throws when a step fails. */
export async function runProviderScenario(scenario: ProviderScenario): Promise<string> {
  const { api, site } = scenario
  await registerRedirect(scenario)
  await registerWebhook(scenario)
  const accountId = await connectMailbox(scenario)
  await listMessages(scenario, accountId)
  await receiveMail(scenario, accountId, async (message) => {
    await site.deliver(message)
    // Without push the service polls every 30 s; the demo requests a sync instead of waiting.
    await api.post(`/accounts/${accountId}/sync`, {})
  })
  return accountId
}

/** An operator does this once in the provider's console. */
async function registerRedirect({ api, name, site }: ProviderScenario): Promise<void> {
  const health = await api.get<{ data: { providers: { name: string; redirectUri?: string }[] } }>('/health/detailed')
  const redirectUri = health.data.providers.find((provider) => provider.name === name)?.redirectUri
  if (redirectUri === undefined) throw new Error(`The service does not offer ${name}.`)
  site.allowRedirect(redirectUri)
}

function connectMailbox(scenario: ProviderScenario): Promise<string> {
  const { narrator, api, receiver, name, site, alone } = scenario
  return narrator.step(
    `An end user connects a mailbox at ${site.title} through the hosted pages`,
    async () => {
      const session = await api.post<Session>('/auth/sessions', {
        ...{ provider: name, email: site.user, redirectUri: receiver.pageUrl },
      })
      if (alone) return clickThrough(session, scenario)
      narrator.say(`   Open this in your browser, and choose ${site.user} on the consent page:\n`)
      narrator.say(`      ${session.authUrl}\n`)
      return connectedBy(session, scenario)
    },
    (accountId) => [
      'POST /auth/sessions → a one-time link to the consent page of the provider, with PKCE and state.',
      `The browser returns to ${receiver.pageUrl} with account ${accountId}.`,
    ],
  )
}

const MAX_PAGES = 8

/** Follows redirects and submits the only form of each page, as a person would in a browser. */
async function clickThrough(session: Session, { receiver }: ProviderScenario): Promise<string> {
  const visitor = browser()
  let page = await visitor.open(session.authUrl)
  for (let count = 0; count < MAX_PAGES; count += 1) {
    if (page.continueUrl?.startsWith(`${receiver.pageUrl}?`)) {
      const { searchParams } = new URL(page.continueUrl)
      const accountId = searchParams.get('accountId')
      if (searchParams.get('status') === 'success' && accountId !== null) return accountId
      break
    }
    page = page.continueUrl === undefined ? await visitor.submit(page, {}) : await visitor.open(page.continueUrl)
  }
  throw new Error(`The pages did not return to the application. The last page is "${page.title}".`)
}

/** Waits until the mailbox is connected or the link expires. */
async function connectedBy({ code }: Session, { api, ended }: ProviderScenario): Promise<string> {
  for (;;) {
    const { status, accountId } = await api.get<{ status: string; accountId: string | null }>(`/auth/sessions/${code}`)
    if (accountId !== null) return accountId
    if (status === 'expired') throw new Error('The link expired before anybody opened it.')
    await sleep(300, undefined, { signal: ended })
  }
}
