import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeViolations } from '../kit/axe.ts'
import { closing } from '../kit/closing.ts'

export const OPERATOR = { username: 'operator', password: 'a long enough password' }

export interface PortalLook {
  scheme?: 'light' | 'dark'
  width?: number
}

export interface PortalVisit {
  page: Page
  /** Opens a page of the portal by its path. */
  open(path: string): Promise<void>
  /** Keeps a picture, and finds nothing wrong with the page as it is: accessibility, width, errors, requests to others, scripts of strangers. */
  inspect(name: string): Promise<void>
}

export interface PortalVisitDeps {
  browser: Browser
  url: string
  keep(page: Page, name: string): Promise<void>
}

/** An operator who has signed in. */
export async function visitPortal(
  { browser, url, keep }: PortalVisitDeps,
  look: PortalLook = {},
): Promise<PortalVisit> {
  const { scheme = 'light', width = 1360 } = look
  const context = closing(
    await browser.newContext({
      ...{ locale: 'en-GB', timezoneId: 'Europe/Berlin', colorScheme: scheme, reducedMotion: 'reduce' },
      viewport: { width, height: 860 },
      permissions: ['clipboard-read', 'clipboard-write'],
    }),
  )
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('dialog', (dialog) => {
    problems.push(`${dialog.type()}: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    // Nobody has signed in yet: the portal asks for its session, and is refused.
    if (message.type() === 'error' && !message.location().url.endsWith('/admin/session')) problems.push(message.text())
  })
  page.on('request', (request) => {
    const target = request.url()
    if (!target.startsWith(`${url}/`) && !/^(data|blob|about):/.test(target)) problems.push(`request to ${target}`)
  })
  await page.goto(`${url}/admin`)
  await page.getByLabel('User name').fill(OPERATOR.username)
  await page.getByLabel('Password', { exact: true }).fill(OPERATOR.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  return {
    page,
    async open(path) {
      await page.goto(`${url}/admin${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
    },
    async inspect(name) {
      // A tooltip covers what is below it.
      await page.mouse.move(0, 0)
      await page.getByRole('tooltip').waitFor({ state: 'detached' })
      await keep(page, `portal ${name} ${scheme} ${width}`)
      expect([name, await axeViolations(page)]).toEqual([name, []])
      expect([name, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([name, true])
      expect([name, problems]).toEqual([name, []])
    },
  }
}
