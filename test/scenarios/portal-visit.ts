import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeViolations } from '../kit/browser/axe.ts'

export const OPERATOR = { username: 'operator', password: 'a long enough password' }

export interface PortalLook {
  width?: number
  scheme?: 'light' | 'dark'
}

/** A browser of the operator, who is signed in. */
export interface PortalVisit {
  page: Page
  /** Errors in the console, dialogs of scripts, and requests to other origins. */
  problems: string[]
  /** Opens an address below `/admin` and waits for its heading. */
  open(path: string, heading?: string | RegExp): Promise<void>
  /** As `open`, from a page of the portal and as its links do, which does not load the portal again. */
  follow(path: string, heading: string | RegExp): Promise<void>
  /** Keeps a picture, and finds nothing wrong with the page as it is: accessibility, width, problems. */
  inspect(name: string): Promise<void>
  /** Forgets an expected error in the console: browsers report every refused request as one. */
  forgive(text: string): void
  /** Waits for the toast, and closes it. */
  toast(text: string | RegExp): Promise<void>
  close(): Promise<void>
}

export interface PortalVisitDeps {
  browser: Browser
  /** The service's address, with the path of a proxy if there is one. */
  url: string
  keep(page: Page, name: string): Promise<void>
}

export async function visitPortal(
  { browser, url, keep }: PortalVisitDeps,
  look: PortalLook = {},
): Promise<PortalVisit> {
  const { width = 1280, scheme = 'light' } = look
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: 860 },
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(300_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    const at = message.location().url
    // Before the sign-in the portal asks for its session, and is refused.
    if (message.type() === 'error' && !at.endsWith('/admin/session')) problems.push(`${message.text()} ${at}`)
  })
  page.on('dialog', (dialog) => {
    problems.push(`a script ran: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('request', (request) => {
    const target = request.url()
    if (!target.startsWith(`${url}/`) && !/^(data|blob|about):/.test(target)) problems.push(`request to ${target}`)
  })
  const visit: PortalVisit = {
    page,
    problems,
    async open(path, heading) {
      await page.goto(`${url}/admin${path}`)
      await page.getByRole('heading', { level: 1, ...(heading !== undefined && { name: heading }) }).waitFor()
    },
    async follow(path, heading) {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`${url}/admin${path}`)})`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    },
    async inspect(name) {
      // A tooltip covers what is below it.
      await page.mouse.move(0, 0)
      await page.getByRole('tooltip').waitFor({ state: 'detached' })
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      await keep(page, `portal ${name} ${scheme} ${width}`)
      expect([name, await axeViolations(page)]).toEqual([name, []])
      expect([name, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([name, true])
      expect([name, problems]).toEqual([name, []])
    },
    forgive(text) {
      const index = problems.findIndex((problem) => problem.includes(text))
      expect(index).not.toBe(-1)
      problems.splice(index, 1)
    },
    async toast(text) {
      const toast = page.locator('.mantine-Notification-root', { hasText: text }).first()
      await toast.waitFor()
      await toast.getByRole('button').click()
      await toast.waitFor({ state: 'detached' })
    },
    close: () => context.close(),
  }
  await page.goto(`${url}/admin/accounts?status=connected`)
  await signIn(page)
  // Signing in continues at the address.
  await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
  expect(page.url()).toContain('?status=connected')
  return visit
}

/** Fills in the sign-in page that is shown. */
export async function signIn(page: Page): Promise<void> {
  await page.getByLabel('User name').fill(OPERATOR.username)
  await page.getByLabel('Password', { exact: true }).fill(OPERATOR.password)
  await page.keyboard.press('Enter')
}
