import { browser, type Page } from './browser.ts'
import type { DemoMailServer } from './mail-server.ts'
import { listMessages, receiveMail, registerWebhook, type ScenarioContext } from './steps.ts'

/** What the scenario needs. */
export interface ImapScenario extends ScenarioContext {
  mail: DemoMailServer
}

const APP_URL = 'http://localhost:3000/connected'

/** Connects a mailbox, lists it and receives a webhook. Returns the id of the account. Throws when a step fails. */
export async function runImapScenario(scenario: ImapScenario): Promise<string> {
  await registerWebhook(scenario)
  const accountId = await connectMailbox(scenario)
  await listMessages(scenario, accountId)
  await receiveMail(scenario, accountId, scenario.mail.deliver)
  return accountId
}

function connectMailbox({ narrator, api, mail }: ImapScenario): Promise<string> {
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
        throw new Error(`The hosted pages ended at ${back.origin}${back.pathname} without an account.`)
      }
      return accountId
    },
    (accountId) => [
      'POST /auth/sessions → a one-time link. Its pages ask for the mail server and the password.',
      `The browser returns to ${APP_URL} with account ${accountId}.`,
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
    const fields = page.form?.fields ?? {}
    const values = {
      email: mail.user,
      host: mail.host,
      port: String(mail.port),
      username: mail.user,
      password: mail.password,
    }
    const known = Object.entries(values).filter(([name]) => name in fields)
    page = await submit(page, {
      ...Object.fromEntries(known),
      ...('password' in fields && { secure: 'true', allowSelfSigned: 'true' }),
    })
  }
  throw new Error(`The hosted pages did not finish. The last page is "${page.title}".`)
}
