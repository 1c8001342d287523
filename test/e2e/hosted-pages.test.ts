import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/time/clock.ts'
import { imapProvider } from '../../src/providers/imap/provider.ts'
import { type Hosted, localGuard, serveHosted } from '../kit/accounts/hosted.ts'
import { browserAvailable, focused, launchBrowser, tabOrder } from '../kit/browser/browser.ts'
import { describeOneDatabase } from '../kit/database/database.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'

const EMAIL = 'ada@posthorn.test'
const PASSWORD = 'correct horse'

/** Presses the button and submits again, without leaving the page. Returns which submits would have been sent. */
const PRESS_TWICE = `(async () => {
  const form = document.querySelector('form')
  const button = form.querySelector('.primary')
  const sent = []
  form.addEventListener('submit', (event) => {
    sent.push(!event.defaultPrevented)
    event.preventDefault()
  })
  button.click()
  await new Promise((resolve) => setTimeout(resolve))
  const state = { disabled: button.disabled, status: form.querySelector('.status').textContent }
  form.requestSubmit()
  return { sent, ...state }
})()`

describe.skipIf(!browserAvailable() || !dovecotAvailable())('the hosted pages in a browser', () => {
  let browser: Browser
  let dovecot: Dovecot
  let application: Server
  let done: string
  beforeAll(async () => {
    dovecot = await startDovecot()
    await dovecot.addUser(EMAIL, PASSWORD)
    await dovecot.doveadm('mailbox', 'create', '-u', EMAIL, 'Work', 'Projekte/Größe')
    browser = await launchBrowser()
    application = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<h1>Welcome back</h1>'),
    )
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
    done = `http://127.0.0.1:${(application.address() as AddressInfo).port}/done`
  })
  afterAll(async () => {
    await browser?.close()
    await dovecot?.stop()
    application?.close()
  })

  describeOneDatabase('from the link to the application', 'sqlite', (open) => {
    let hosted: Hosted
    let context: BrowserContext
    let consoleErrors: string[]
    beforeEach(async () => {
      const { mail } = imapProvider({ guard: localGuard, clock: systemClock })
      hosted = await serveHosted(await open(), { imap: mail, authScreen: { name: 'Northwind' } })
      consoleErrors = []
    })
    afterEach(async () => {
      await context.close()
      await hosted.close()
      expect(consoleErrors).toEqual([])
    })

    async function visit(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
      context = await browser.newContext(options)
      context.setDefaultTimeout(300_000)
      return newPage()
    }

    async function newPage(): Promise<Page> {
      const page = await context.newPage()
      page.on('console', (message) => {
        // Some tests open pages with status 4xx on purpose. Any other console error is a bug.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          consoleErrors.push(message.text())
      })
      page.on('pageerror', (error) => consoleErrors.push(String(error)))
      return page
    }

    async function fillServer(page: Page, password: string): Promise<void> {
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByLabel('IMAP server').fill('localhost')
      const isOpen = await page.locator('#settings[open]').count()
      if (isOpen === 0) await page.getByText('More settings').click()
      await page.getByLabel('Port', { exact: true }).fill(String(dovecot.imapsPort))
    }

    it.each([
      ['without', false],
      ['with', true],
    ])(
      'handles invalid input, a wrong password and the choice of a folder %s JavaScript',
      async (_title, javaScriptEnabled) => {
        const page = await visit({ javaScriptEnabled })
        const { code, authUrl } = await hosted.session({ redirectUri: `${done}?own=1` })
        await page.goto(authUrl)
        expect(await page.title()).toBe('Connect your mailbox · Northwind')

        await page.getByLabel('Email address').fill('ada at home')
        await page.getByRole('button', { name: 'Continue' }).click()
        await page.getByRole('alert').getByText('Enter an email address such as').waitFor()
        expect(await page.title()).toMatch(/^Error: /)
        await page.getByLabel('Email address').fill(EMAIL)
        await page.getByLabel('Email address').press('Enter')

        await page.getByRole('heading', { name: 'Sign in to your mailbox' }).waitFor()
        expect(await page.getByLabel('Username', { exact: true }).inputValue()).toBe(EMAIL)
        await page.getByRole('button', { name: 'Connect mailbox' }).click()
        await page.getByRole('link', { name: 'Enter the password.' }).waitFor()
        expect(await page.getByLabel('IMAP server').getAttribute('aria-invalid')).toBe('true')

        await fillServer(page, PASSWORD)
        await page.getByRole('button', { name: 'Connect mailbox' }).click()
        await page.getByRole('heading', { name: 'The connection is not secure' }).waitFor()

        await fillServer(page, 'wrong')
        await page.getByLabel('Accept a certificate that cannot be verified').check()
        await page.getByLabel('Password', { exact: true }).press('Enter')
        await page.getByRole('heading', { name: 'The mail server rejected the sign-in' }).waitFor()
        expect(await page.getByLabel('Accept a certificate that cannot be verified').isChecked()).toBe(true)

        await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
        await page.getByRole('button', { name: 'Choose a folder' }).click()
        await page.getByLabel('Folder to connect').selectOption('Projekte/Größe')
        expect(await page.content()).not.toContain(PASSWORD)
        await page.getByRole('button', { name: 'Connect mailbox' }).click()

        await page.getByText('Welcome back').waitFor()
        const landed = new URL(page.url())
        const { accountId } = await hosted.status(code)
        expect(`${landed.origin}${landed.pathname}`).toBe(done)
        expect(Object.fromEntries(landed.searchParams)).toEqual({
          own: '1',
          status: 'success',
          accountId,
          provider: 'imap',
          email: EMAIL,
          session: code,
        })
        expect(await context.cookies()).toEqual([])

        await page.goto(authUrl)
        await page.getByText('This link has been used').waitFor()
      },
    )

    it('rejects a form posted by another site, and framing', async () => {
      const page = await visit()
      const { code, authUrl } = await hosted.session()
      await page.goto(`${authUrl}&state=known`)
      // Another origin: "localhost" is not "127.0.0.1".
      const elsewhere = done.replace('127.0.0.1', 'localhost')
      await page.goto(elsewhere)
      await page.setContent(
        `<form method="post" action="${hosted.url}/auth/authorize"><input name="session" value="${code}"><input name="state" value="known"><input name="email" value="eve@example.com"><button>Go</button></form>`,
      )
      await page.getByRole('button').click()
      await page.getByText('Please open the link again').waitFor()
      expect(await hosted.status(code)).toMatchObject({ status: 'pending' })

      await page.goto(elsewhere)
      await page.setContent(`<iframe src="${authUrl}"></iframe>`)
      await page.waitForLoadState('networkidle')
      expect(await page.frames()[1]?.getByRole('heading').count()).toBe(0)
      expect(consoleErrors.splice(0).join()).toContain('frame-ancestors')
    })

    it.each([
      ['without', false],
      ['with', true],
    ])(
      'asks for the password only where the server is known, and lets the user change it %s JavaScript',
      async (_title, javaScriptEnabled) => {
        const page = await visit({ javaScriptEnabled })
        const { authUrl } = await hosted.session({ provider: 'imap', redirectUri: done })
        await page.goto(authUrl)
        await page.getByLabel('Email address').fill('ada@fastmail.com')
        await page.getByLabel('Email address').press('Enter')
        await page.getByText('Server: imap.fastmail.com').waitFor()
        expect(await page.getByLabel('IMAP server').isVisible()).toBe(false)
        expect(await page.getByRole('button', { name: 'Choose a folder' }).isVisible()).toBe(false)
        expect(await focused(page)).toBe('password')

        await page.getByRole('button', { name: 'Edit' }).click()
        await page.getByLabel('IMAP server').waitFor()
        expect(await focused(page)).toBe('host')
        expect(await page.getByLabel('IMAP server').inputValue()).toBe('imap.fastmail.com')
        expect(await page.getByRole('button', { name: 'Choose a folder' }).isVisible()).toBe(true)

        await page.getByRole('button', { name: 'Use a different address' }).click()
        await page.getByRole('heading', { name: 'Connect your mailbox to Northwind' }).waitFor()
        expect(await page.getByLabel('Email address').inputValue()).toBe('ada@fastmail.com')
      },
    )

    it('with JavaScript reveals the password and prevents a second submit', async () => {
      const page = await visit()
      const { authUrl } = await hosted.session({ provider: 'imap', email: 'ada@fastmail.com', redirectUri: done })
      await page.goto(authUrl)
      await page.getByLabel('App password', { exact: true }).fill('geheim')
      await page.getByRole('button', { name: 'Show password' }).first().click()
      expect(await page.locator('#password').getAttribute('type')).toBe('text')
      await page.getByRole('button', { name: 'Hide password' }).click()
      expect(await page.locator('#password').getAttribute('type')).toBe('password')

      const pressed = await page.evaluate(PRESS_TWICE)
      expect(pressed).toEqual({
        sent: [true, false],
        disabled: true,
        status: 'Signing in to your mail server. This can take a few seconds.',
      })
    })

    it('has its controls in tab order, and the focus in the first invalid field', async () => {
      const page = await visit({ viewport: { width: 320, height: 640 } })
      const { code, authUrl } = await hosted.session({ redirectUri: done })
      await page.goto(authUrl)
      expect(await tabOrder(page)).toEqual(['email', 'Continue', 'Cancel'])
      await page.getByLabel('Email address').fill('ada@icloud.com')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('requires an app password').waitFor()
      expect(await tabOrder(page)).toEqual([
        'Edit',
        'How to create an app password',
        'password',
        'Show',
        'More settings',
        'Connect mailbox',
        'Use a different address',
        'Cancel',
      ])

      await page.getByText('More settings').click()
      await page.getByLabel('IMAP server').fill('')
      await page.getByLabel('Port', { exact: true }).fill('x')
      await page.getByRole('button', { name: 'Connect mailbox' }).click()
      await page.getByRole('alert').waitFor()
      expect(await focused(page)).toBe('password')
      expect(await hosted.status(code)).toMatchObject({ status: 'started' })
    })
  })
})
