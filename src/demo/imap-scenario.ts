import { browser, type Page } from './browser.ts'
import type { DemoMailServer } from './mail-server.ts'
import { listMessages, receiveMail, registerWebhook, type Scene } from './steps.ts'

/** Where the story of a mailbox with a password happens. */
export interface Stage extends Scene {
  mail: DemoMailServer
}

const APP_URL = 'http://localhost:3000/connected'

/** The main job, told step by step; answers the id of the connected account. Throws when any step does not happen. */
export async function tellStory(stage: Stage): Promise<string> {
  await registerWebhook(stage)
  const accountId = await connectMailbox(stage)
  await listMessages(stage, accountId)
  await receiveMail(stage, accountId, stage.mail.deliver)
  return accountId
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
