import { setTimeout as sleep } from 'node:timers/promises'
import { browser } from './browser.ts'
import type { DemoSite, SiteName } from './provider-emulator.ts'
import { listMessages, receiveMail, registerWebhook, type Scene } from './steps.ts'

/** Where the story of a mailbox with a consent page happens. */
export interface SiteStage extends Scene {
  name: SiteName
  site: DemoSite
  /** Aborted when somebody ends the demo. */
  ended: AbortSignal
  /** Clicks through the pages by plain HTTP; false: waits for a person with a browser. */
  alone: boolean
}

interface Session {
  authUrl: string
  code: string
}

/** The main job at a provider with sign-in; answers the id of the connected account. Throws when any step does not happen. */
export async function tellSiteStory(stage: SiteStage): Promise<string> {
  const { api, site } = stage
  await registerRedirect(stage)
  await registerWebhook(stage)
  const accountId = await connectMailbox(stage)
  await listMessages(stage, accountId)
  await receiveMail(stage, accountId, async (mail) => {
    await site.deliver(mail)
    // Without push a mailbox is asked every half minute; nobody shall wait for that here.
    await api.post(`/accounts/${accountId}/sync`, {})
  })
  return accountId
}

/** What an operator does once in the provider's console. */
async function registerRedirect({ api, name, site }: SiteStage): Promise<void> {
  const health = await api.get<{ data: { providers: { name: string; redirectUri?: string }[] } }>('/health/detailed')
  const redirectUri = health.data.providers.find((provider) => provider.name === name)?.redirectUri
  if (redirectUri === undefined) throw new Error(`the service does not offer ${name}`)
  site.allowRedirect(redirectUri)
}

function connectMailbox(stage: SiteStage): Promise<string> {
  const { narrator, api, receiver, name, site, alone } = stage
  return narrator.step(
    `An end user connects a mailbox at ${site.title} through the hosted pages`,
    async () => {
      const session = await api.post<Session>('/auth/sessions', {
        ...{ provider: name, email: site.user, redirectUri: receiver.pageUrl },
      })
      if (alone) return clickThrough(session, stage)
      narrator.say(`   Open this in your browser, and choose ${site.user} on the consent page:\n`)
      narrator.say(`      ${session.authUrl}\n`)
      return connectedBy(session, stage)
    },
    (accountId) => [
      'POST /auth/sessions → a one-time link; behind it the consent page of the provider, with PKCE and state.',
      `The browser is sent back to ${receiver.pageUrl} with account ${accountId}.`,
    ],
  )
}

const MAX_PAGES = 8

/** As a person would, without a browser: follows where it is sent, and presses the only button of each page. */
async function clickThrough(session: Session, { receiver }: SiteStage): Promise<string> {
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
  throw new Error(`the pages did not lead back to the application; the last one is "${page.title}"`)
}

/** Waits for as long as the link lives. */
async function connectedBy({ code }: Session, { api, ended }: SiteStage): Promise<string> {
  for (;;) {
    const { status, accountId } = await api.get<{ status: string; accountId: string | null }>(`/auth/sessions/${code}`)
    if (accountId !== null) return accountId
    if (status === 'expired') throw new Error('nobody opened the link while it was good')
    await sleep(300, undefined, { signal: ended })
  }
}
