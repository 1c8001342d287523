import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { describeOneDatabase } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { numberedMessage } from '../scenarios/mailboxes.ts'
import { type OAuthStage, type SiteName, startOAuthStage } from '../scenarios/oauth.ts'

const USERS: Record<SiteName, string> = { gmail: 'ada@gmail.com', microsoft: 'ada@outlook.com' }
const BUTTONS: Record<SiteName, string> = { gmail: 'Google', microsoft: 'Microsoft' }

describe.skipIf(!browserAvailable())('the built service, a browser and the consent pages of the providers', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  describe.each([
    ['at its own address', '', 'sqlite'],
    ['behind a proxy that strips a path', '/mail', 'postgres'],
  ] as const)('%s', (_title, path, engine) => {
    describeOneDatabase('connects', engine, (databases) => {
      let stage: OAuthStage
      let context: BrowserContext
      let page: Page
      /** URLs of the service that the browser requested. */
      let requested: string[]
      let consoleErrors: string[]
      beforeEach(async () => {
        stage = await startOAuthStage(await databases.place(), { path })
        for (const name of ['gmail', 'microsoft'] as const) {
          const { server } = stage.sites[name]
          server.addUser(USERS[name])
          server.addUser('somebody.else@example.com')
          for (const subject of ['First', 'Second']) await server.deliver(USERS[name], numberedMessage(subject))
        }
        context = await browser.newContext()
        context.setDefaultTimeout(300_000)
        page = await context.newPage()
        requested = []
        consoleErrors = []
        const { origin } = new URL(stage.proxy.url)
        page.on('request', (request) => {
          if (request.url().startsWith(`${origin}/`)) requested.push(request.url())
        })
        page.on('console', (message) => {
          const isFromService = message.location().url.startsWith(`${origin}/`)
          if (message.type() === 'error' && isFromService) consoleErrors.push(message.text())
        })
        page.on('pageerror', (error) => consoleErrors.push(String(error)))
      })
      afterEach(async () => {
        await context?.close()
        await stage?.close()
      })

      /** Clicks this user's button on the consent page. */
      async function consentAs(user: string): Promise<void> {
        await page.getByText('Sign in to Posthorn').waitFor()
        await page.getByRole('button', { name: user }).click()
      }

      it.each(['gmail', 'microsoft'] as const)('a mailbox of %s and announces its messages', async (name) => {
        const email = USERS[name]
        const { server } = stage.sites[name]
        const { api, application, landing, proxy } = stage
        // The address selects Google on the page. The application requests Microsoft itself.
        const wanted = name === 'gmail' ? {} : { provider: name, email }
        const redirectUri = `${new URL(landing.url).origin}/done?own=1`
        const session = await api.call<{ authUrl: string; code: string }>('POST', '/auth/sessions', {
          redirectUri,
          ...wanted,
        })
        expect(session.authUrl).toMatch(`${proxy.url}/`)

        await page.goto(session.authUrl)
        if (name === 'gmail') {
          await page.getByLabel('Email address').fill(email)
          await page.getByRole('button', { name: 'Continue', exact: true }).click()
        } else await page.getByRole('button', { name: `Continue with ${BUTTONS[name]}` }).click()
        await consentAs(email)

        await page.getByText('Welcome back').waitFor()
        const landed = new URL(page.url())
        const { accountId } = await api.call<{ accountId: string }>('GET', `/auth/sessions/${session.code}`)
        expect(Object.fromEntries(landed.searchParams)).toEqual({
          own: '1',
          status: 'success',
          accountId,
          provider: name,
          email,
          session: session.code,
        })
        expect(landed.pathname).toBe('/done')
        expect((await context.cookies()).filter((cookie) => cookie.name.startsWith('posthorn'))).toEqual([])

        const subjects = async () =>
          (await api.call<{ messages: { subject: string }[] }>('GET', `/accounts/${accountId}/messages`)).messages.map(
            ({ subject }) => subject,
          )
        await eventually(async () => expect((await subjects()).sort()).toEqual(['First', 'Second']))
        await eventually(async () => {
          expect(await api.call('GET', `/accounts/${accountId}`)).toMatchObject({ status: 'connected', email })
        })

        await server.deliver(email, numberedMessage('Third'))
        await api.call('POST', `/accounts/${accountId}/sync`)
        await eventually(() => {
          const received = [...application.received.values()].filter(({ type }) => type === 'message.received')
          expect(received.map(({ subject, times }) => [subject, times])).toEqual([['Third', 1]])
        })
        expect(application.badSignatures).toBe(0)
        expect((await subjects()).sort()).toEqual(['First', 'Second', 'Third'])

        expect(requested.filter((url) => !url.startsWith(`${proxy.url}/`))).toEqual([])
        expect(consoleErrors).toEqual([])
        const cookies = proxy.exchanges.flatMap(({ headers }) => headers['set-cookie'] ?? [])
        expect(cookies.length).toBeGreaterThan(0)
        expect(cookies.filter((cookie) => !cookie.includes(`; Path=${path === '' ? '/' : path};`))).toEqual([])
      })

      // At its own address, the walk of the hosted pages does this.
      it.each(path === '' ? [] : (['gmail', 'microsoft'] as const))(
        'nothing of %s when the user cancels, and a mailbox when the user tries again',
        async (name) => {
          const email = USERS[name]
          const { api, landing } = stage
          const redirectUri = `${new URL(landing.url).origin}/done`
          const session = await api.call<{ authUrl: string; code: string }>('POST', '/auth/sessions', { redirectUri })
          await page.goto(session.authUrl)
          await page.getByRole('button', { name: BUTTONS[name] }).click()
          await page.getByRole('link', { name: 'Cancel' }).click()
          await page.getByText('Access was not granted').waitFor()
          expect(await api.call('GET', `/auth/sessions/${session.code}`)).toMatchObject({ accountId: null })

          await page.getByRole('link', { name: 'Try again' }).click()
          await page.getByRole('button', { name: BUTTONS[name] }).click()
          await consentAs(email)
          await page.getByText('Welcome back').waitFor()
          expect(new URL(page.url()).searchParams.get('email')).toBe(email)
          expect(requested.filter((url) => !url.startsWith(`${stage.proxy.url}/`))).toEqual([])
        },
      )
    })
  })
})
