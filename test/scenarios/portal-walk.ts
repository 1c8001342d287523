import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeViolations } from '../kit/axe.ts'
import { OPERATOR, type PortalStage } from './portal-stage.ts'

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
  open(path: string, heading: string | RegExp): Promise<void>
  /** Keeps a picture; nothing is wrong with the page as it is. */
  inspect(name: string): Promise<void>
  /** Forgets an expected error in the console: browsers report every refused request as one. */
  forgive(text: string): void
  /** Waits for the toast, and closes it. */
  toast(text: string | RegExp): Promise<void>
  close(): Promise<void>
}

export interface PortalVisitDeps {
  browser: Browser
  stage: PortalStage
  keep(page: Page, name: string): Promise<void>
}

export async function visitPortal(
  { browser, stage, keep }: PortalVisitDeps,
  look: PortalLook = {},
): Promise<PortalVisit> {
  const { width = 1280, scheme = 'light' } = look
  const context = await browser.newContext({
    ...{ colorScheme: scheme, viewport: { width, height: 860 }, locale: 'en-US', timezoneId: 'Europe/Berlin' },
    ...{ reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] },
  })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${message.text()} ${message.location().url}`)
  })
  page.on('dialog', (dialog) => {
    problems.push(`a script ran: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${stage.url}/`) && !url.startsWith('data:')) problems.push(`request to ${url}`)
  })
  const visit: PortalVisit = {
    page,
    problems,
    async open(path, heading) {
      await page.goto(`${stage.url}/admin${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    },
    async inspect(name) {
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      await keep(page, `portal ${name} ${scheme} ${width}`)
      expect([name, await axeViolations(page)]).toEqual([name, []])
      expect([name, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([name, true])
      expect(problems).toEqual([])
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
  await page.goto(`${stage.url}/admin/accounts?status=connected`)
  await page.getByLabel('User name').fill(OPERATOR.username)
  await page.getByLabel('Password', { exact: true }).fill(OPERATOR.password)
  await page.keyboard.press('Enter')
  // Signing in continues at the address.
  await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
  expect(page.url()).toContain('?status=connected')
  return visit
}

export interface PortalPage {
  name: string
  path(stage: PortalStage): string
  heading: string | RegExp
  /** Something that is shown once the page has its data. */
  shows(page: Page): ReturnType<Page['locator']>
}

const text = (content: string | RegExp) => (page: Page) => page.getByText(content).first()

/** Every page, as it is with the data of the stage. */
export const PORTAL_PAGES: readonly PortalPage[] = [
  { name: 'overview', path: () => '', heading: 'Overview', shows: text('1 account disconnected') },
  { name: 'accounts', path: () => '/accounts', heading: 'Accounts', shows: text('grace@acme.example') },
  { name: 'connect', path: () => '/accounts?connect=1', heading: 'Accounts', shows: text('Create the link') },
  {
    name: 'account',
    path: ({ accounts }) => `/accounts/${accounts.ada}`,
    heading: 'ada@acme.example',
    shows: text('The lease is signed'),
  },
  {
    name: 'account that is refused',
    path: ({ accounts }) => `/accounts/${accounts.rejected}`,
    heading: 'linus@acme.example',
    shows: text('The provider refuses the credentials'),
  },
  {
    name: 'folders',
    path: ({ accounts }) => `/accounts/${accounts.ada}?tab=labels`,
    heading: 'ada@acme.example',
    shows: text('Archive'),
  },
  {
    name: 'calendars',
    path: ({ accounts }) => `/accounts/${accounts.ada}?tab=calendars`,
    heading: 'ada@acme.example',
    shows: text('Work'),
  },
  { name: 'webhooks', path: () => '/webhooks', heading: 'Webhooks', shows: text('/hooks/posthorn') },
  { name: 'new endpoint', path: () => '/webhooks?create=1', heading: 'Webhooks', shows: text('Sign the requests') },
  {
    name: 'endpoint',
    path: ({ endpoints }) => `/webhooks/${endpoints.working}`,
    heading: /hooks\/posthorn/,
    shows: text('X-Environment'),
  },
  {
    name: 'inactive endpoint',
    path: ({ endpoints }) => `/webhooks/${endpoints.inactive}`,
    heading: /\/old/,
    shows: text('This endpoint is inactive'),
  },
  { name: 'deliveries', path: () => '/deliveries', heading: 'Deliveries', shows: text('message.sent') },
  { name: 'recovery', path: () => '/deliveries?recover=1', heading: 'Deliveries', shows: text('In your time zone') },
  { name: 'outbox', path: () => '/outbox', heading: 'Drafts and outbox', shows: text('Reminder: workshop') },
  {
    name: 'uncertain message',
    path: ({ outbox }) => `/outbox?open=${outbox.uncertain}`,
    heading: 'Drafts and outbox',
    shows: text('It arrived'),
  },
  {
    name: 'drafts',
    path: ({ accounts }) => `/outbox?tab=drafts&accountId=${accounts.grace}`,
    heading: 'Drafts and outbox',
    shows: text('Dinner on Thursday'),
  },
  { name: 'logs', path: () => '/logs', heading: 'Sync logs', shows: (page) => page.locator('[data-row]').first() },
  { name: 'unknown page', path: () => '/nothing', heading: 'Page not found', shows: text('Open the overview') },
]
