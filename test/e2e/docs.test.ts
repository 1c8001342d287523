import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeViolations } from '../kit/browser/axe.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { type ReverseProxy, startProxy } from '../servers/reverse-proxy.ts'

interface View {
  colorScheme?: 'light' | 'dark'
  width?: number
  javaScriptEnabled?: boolean
}

/** Below a path, as operators serve it. Its pages must work there and name it in their samples. */
describe.skipIf(!browserAvailable())('the documentation in a browser', () => {
  let service: Service
  let proxy: ReverseProxy
  let browser: Browser
  beforeAll(async () => {
    proxy = await startProxy('/tools/mail')
    service = await startService({ environment: { PUBLIC_URL: proxy.url } })
    proxy.target = service.url
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await proxy?.close()
  })

  async function visit(path: string, view: View, check: (page: Page) => Promise<void>) {
    const { colorScheme = 'light', width = 1280, javaScriptEnabled = true } = view
    const context = await browser.newContext({ colorScheme, javaScriptEnabled, viewport: { width, height: 900 } })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on(
      'response',
      (response) => response.status() >= 400 && problems.push(`${response.status()} ${response.url()}`),
    )
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${proxy.url}/`) && !url.startsWith('data:')) problems.push(`requested ${url}`)
    })
    try {
      await page.goto(proxy.url + path)
      await check(page)
      expect(problems).toEqual([])
    } finally {
      await context.close()
    }
  }

  it.each([
    ['/docs', 'light', 1280],
    ['/docs', 'dark', 320],
    ['/docs/webhooks', 'light', 390],
    ['/docs/events', 'dark', 1280],
    ['/docs/errors#rate_limited', 'dark', 390],
    ['/docs/api/messages', 'light', 1280],
    ['/docs/api/sending', 'dark', 320],
  ] as const)('shows %s accessibly: %s, %i px', async (path, colorScheme, width) => {
    await visit(path, { colorScheme, width }, async (page) => {
      await page.getByRole('searchbox').waitFor()
      expect(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true)
      expect(await axeViolations(page, { targetSizes: false })).toEqual([])
    })
  })

  it('finds a guide and an operation with the keyboard', async () => {
    await visit('/docs/webhooks', {}, async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('send a message')
      const results = page.locator('.results a')
      await results.first().waitFor()
      expect(await axeViolations(page, { targetSizes: false })).toEqual([])
      expect(await results.first().textContent()).toContain('Send a message')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${proxy.url}/docs/api/sending#sendMessage`)
      expect(await page.getByRole('heading', { name: 'Send a message', exact: true }).isVisible()).toBe(true)
      await page.getByRole('searchbox').fill('glosary')
      await page.locator('.results a', { hasText: 'Glossary' }).first().click()
      await page.waitForURL(`${proxy.url}/docs/glossary`)
    })
  })

  it('finds error codes and settings by parts of their names, and says when it finds nothing', async () => {
    await visit('/docs', { width: 390 }, async (page) => {
      const field = page.getByRole('searchbox')
      await field.fill('mail_limited')
      await page.locator('.results a').first().waitFor()
      const first = page.locator('.results a').first()
      expect(await first.getAttribute('href')).toBe(`${proxy.url}/docs/errors#mail_limited`)
      await field.fill('xyzzyplugh')
      await page.getByText('Nothing found for “xyzzyplugh”').waitFor()
      await page.keyboard.press('Escape')
      expect(await page.locator('.results').isVisible()).toBe(false)
      await field.fill('TRUSTED_PROXIES')
      await first.waitFor()
      await first.click()
      await page.waitForURL(/\/docs\/\w+/)
      expect(await page.locator('main').textContent()).toContain('TRUSTED_PROXIES')
    })
  })

  it('names the address at which it was opened in its samples, and copies them', async () => {
    await visit('/docs/api/accounts', {}, async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const sample = page.locator('.operation', { hasText: 'List accounts, newest first' }).locator('.sample .code')
      expect(await sample.first().locator('code').textContent()).toContain(`curl '${proxy.url}/accounts?limit=2'`)
      await sample.first().hover()
      await sample.first().getByRole('button', { name: 'Copy' }).click()
      await sample.first().getByRole('button', { name: 'Copied' }).waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`curl '${proxy.url}/accounts?limit=2'`)
    })
  })

  it.each([
    ['#tag/Accounts/operation/listAccounts', '/docs/api/accounts#listAccounts'],
    ['#tag/Hosted-authentication', '/docs/api/hosted-authentication'],
  ])('leads from the earlier address /docs%s to %s', async (hash, address) => {
    await visit(`/docs${hash}`, {}, (page) => page.waitForURL(proxy.url + address))
  })

  it('shows all of its text without JavaScript, and a menu on phones', async () => {
    await visit('/docs', { javaScriptEnabled: false, width: 390 }, async (page) => {
      expect(await page.getByRole('searchbox').isVisible()).toBe(false)
      await page.getByRole('link', { name: 'Menu' }).click()
      await page.locator('#page-menu').getByRole('link', { name: 'Messages', exact: true }).click()
      await page.waitForURL(`${proxy.url}/docs/api/messages`)
      expect(await page.getByText('/accounts/{accountId}/messages/batch').first().isVisible()).toBe(true)
      await page.getByText('Members of from').first().waitFor({ state: 'attached' })
    })
  })
})
