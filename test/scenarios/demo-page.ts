import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { badSizes } from '../kit/browser/browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const FIND_VIOLATIONS = `axe.run({ preload: false }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`

/** A page of the demo in a browser of its own size and colour scheme. */
export interface DemoPage {
  page: Page
  /** Expects no accessibility violation, no horizontal scrolling, and no error in the console so far. */
  check(): Promise<void>
  close(): Promise<void>
}

export async function openDemoPage(
  browser: Browser,
  url: string,
  { scheme = 'light', width = 1280 }: { scheme?: 'light' | 'dark'; width?: number } = {},
): Promise<DemoPage> {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 900 } })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await context.newPage()
  page.setDefaultTimeout(300_000)
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && message.location().url.startsWith(url)) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(url)
  return {
    page,
    async check() {
      expect(await page.evaluate(`${AXE};${FIND_VIOLATIONS}`)).toEqual([])
      expect(await badSizes(page)).not.toContain('page')
      expect(problems).toEqual([])
    },
    close: () => context.close(),
  }
}

/** From the connect button through the hosted pages and back. The address is filled in, and the server is found. */
export async function connectMailbox(page: Page, user: string): Promise<void> {
  const home = page.url()
  await page.getByRole('button', { name: 'Connect a mailbox' }).click()
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  if (user === 'ada@demo.posthorn.example') {
    await page.getByLabel('Password', { exact: true }).first().fill('demo')
    expect(await page.locator('#settings').getAttribute('open')).toBe(null)
    await page.getByRole('button', { name: 'Connect mailbox' }).click()
  } else {
    await page.getByRole('button', { name: user }).click()
  }
  await page.waitForURL(home)
  await page.getByText('Über die Primzahlen').waitFor()
  expect(await page.locator('.message').count()).toBe(5)
}

/** Clicks "Send me a message", and waits for it in the inbox and for its webhook. */
export async function receiveMessage(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send me a message' }).click()
  const arrived = page.getByRole('listitem').filter({ hasText: 'Luigi Menabrea' })
  await arrived.getByText('Your notes, translated').waitFor()
  const webhook = page.locator('.webhook').filter({ hasText: 'message.received' })
  await webhook.getByText('signature verified').waitFor()
  await webhook.getByText('message.received').click()
  await webhook.getByText('"subject": "Your notes, translated"').waitFor()
  await page.locator('.step[data-status=done]').nth(4).waitFor()
}

/** Books the first slot that the booking page shows, as a guest. */
export async function bookFirstSlot(page: Page): Promise<void> {
  page.setDefaultTimeout(300_000)
  await page.locator('.slot').first().click()
  await page.getByLabel('Name', { exact: true }).fill('Grace Hopper')
  await page.getByLabel('Email').fill('grace@example.com')
  await page.getByRole('button', { name: 'Book', exact: true }).click()
}
