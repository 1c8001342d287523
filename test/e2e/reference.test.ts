import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeViolations } from '../kit/browser/axe.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { type Service, startService } from '../kit/service/service.ts'

/** A busy machine needs a minute to render the reference. */
const RENDER_MS = 300_000

/** Sections repeat the same markup for each operation; checking all of them takes a minute. The long tests do. */
const exclude = ['[data-section-id^="tag/"]:not([data-section-id^="tag/Accounts"])']

describe.skipIf(!browserAvailable())('the API reference in a browser', () => {
  let service: Service
  let browser: Browser
  beforeAll(async () => {
    service = await startService()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  async function visit(
    path: string,
    colorScheme: 'light' | 'dark',
    width: number,
    check: (page: Page) => Promise<void>,
  ) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
    // The document has a megabyte.
    context.setDefaultTimeout(RENDER_MS)
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('request', (request) => {
      const url = request.url().replace(/^blob:/, '')
      if (!url.startsWith(`${service.url}/`) && url !== 'data:,') problems.push(`requested ${url}`)
    })
    try {
      await page.goto(service.url + path)
      await check(page)
      expect(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true)
      expect(problems).toEqual([])
      expect(await axeViolations(page, { exclude, targetSizes: false })).toEqual([])
    } finally {
      await context.close()
    }
  }

  /** The long tests open it in both schemes and three widths. */
  it('describes every operation, accessibly and without other hosts, and opens the section of one that was renamed', async () => {
    await visit('/docs#tag/Accounts/operation/fetchAccounts', 'dark', 375, async (page) => {
      await page.getByRole('heading', { name: 'List accounts, newest first' }).waitFor()
      expect(await page.getByText('curl', { exact: true }).count()).toBeGreaterThan(0)
      expect(await page.locator('a[href="openapi.json"]').count()).toBeGreaterThan(0)
      await page.getByText(`curl '${service.url}/accounts?limit=2'`).first().waitFor()
      expect(await page.evaluate('location.hash')).toBe('#tag/Accounts')
    })
  })
})
