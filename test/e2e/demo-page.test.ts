import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { badSizes, browserAvailable, launchBrowser } from '../kit/browser.ts'
import { eventually } from '../kit/eventually.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const FIND_VIOLATIONS = `axe.run({ preload: false }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`
const MARKUP = '<img src=x onerror="document.title=\'attacked\'">'

describe.skipIf(!browserAvailable())('the page of the demo', () => {
  let browser: Browser
  let context: BrowserContext
  let demo: ChildProcess
  let output = ''
  let url: string
  let axe: string
  let problems: string[] = []
  beforeAll(async () => {
    demo = spawn(process.execPath, ['dist/demo.js'], { stdio: ['ignore', 'pipe', 'inherit'] })
    demo.stdout?.on('data', (chunk) => {
      output += chunk
    })
    browser = await launchBrowser()
    axe = await readFile(AXE, 'utf8')
    url = String(await eventually(() => /click "Connect a mailbox":\n\n +(\S+)/.exec(output)?.[1] ?? false))
  })
  afterAll(async () => {
    await browser?.close()
    demo?.kill('SIGINT')
    if (demo?.exitCode === null) await once(demo, 'exit')
  })

  async function visit(colorScheme: 'light' | 'dark', width: number): Promise<Page> {
    problems = []
    context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(String(error)))
    return page
  }

  async function check(page: Page): Promise<void> {
    expect(await page.evaluate(`${axe};${FIND_VIOLATIONS}`)).toEqual([])
    expect(await badSizes(page)).toEqual(expect.not.arrayContaining(['page']))
    expect(problems).toEqual([])
  }

  it('connects with one click on the hosted pages, and shows a message with its verified webhook', async () => {
    const page = await visit('light', 1280)
    await page.goto(url)
    await page.getByText('No mailbox is connected yet').waitFor()
    expect(await page.getByRole('button', { name: 'Send me a message' }).isDisabled()).toBe(true)
    await check(page)

    await page.getByRole('button', { name: 'Connect a mailbox' }).click()
    await page.getByRole('button', { name: 'Connect mailbox' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/auth/authorize/imap')
    expect(await page.content()).not.toContain('demo-password')
    await page.getByRole('button', { name: 'Connect mailbox' }).click()
    await page.waitForURL(`${url}/`)
    await page.getByText('Über die Primzahlen').waitFor()
    expect(await page.locator('.message').count()).toBe(5)

    await page.getByRole('button', { name: 'Send me a message' }).click()
    const arrived = page.getByRole('listitem').filter({ hasText: 'Luigi Menabrea' })
    await arrived.getByText('Your notes, translated').waitFor()
    const webhook = page.locator('.webhook').filter({ hasText: 'message.received' })
    await webhook.getByText('signature verified').waitFor()
    await webhook.getByText('message.received').click()
    await webhook.getByText('"subject": "Your notes, translated"').waitFor()
    await eventually(async () => expect(await page.locator('[data-status=done]').count()).toBe(5))
    await page.locator('#step-list summary').click()
    await page.locator('#step-list').getByRole('button', { name: 'Copy' }).click()
    await page.locator('#step-list').getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^curl http:\S+\/accounts\/acc_\w+\/messages \\\n {2}-H 'Authorization: Bearer [\w-]+'$/,
    )
    await check(page)
    expect(output).toMatch(/→ 5 messages:/)
    expect(output).toContain('the standardwebhooks package verified its signature')
    await context.close()
  })

  it('shows the same in dark mode at 320 px, and hostile content as text', async () => {
    const page = await visit('dark', 320)
    await page.goto(url)
    await page.getByText('Your notes, translated').first().waitFor()
    await page.locator('.webhook summary').first().click()
    await check(page)

    const message = { id: 'a', subject: MARKUP, snippet: MARKUP, from: { name: MARKUP, email: '' }, receivedAt: 0 }
    const view = await page.evaluate(
      `new Promise((resolve) => new EventSource('/events').addEventListener('view', ({ data }) => resolve(JSON.parse(data))))`,
    )
    const hostile = Object.assign(view as object, {
      inbox: { messages: [message], total: 1 },
      webhooks: [{ id: MARKUP, type: MARKUP, signedAt: 0, body: JSON.stringify({ data: MARKUP }) }],
      ...{ notice: MARKUP, user: MARKUP },
    })
    const body = `event: view\ndata: ${JSON.stringify(hostile)}\n\n`
    await page.route('**/events', (route) => route.fulfill({ contentType: 'text/event-stream', body }))
    await page.reload()
    await page.locator('.webhook summary').click()
    await page.locator('.webhook pre').getByText(MARKUP.replaceAll('"', '\\"')).waitFor()
    expect(await page.locator('.subject').textContent()).toBe(MARKUP)
    expect([await page.title(), await page.locator('img').count()]).toEqual(['Posthorn demo', 0])
    await context.close()
  })

  /** Status of a request with these headers, which fetch would not let a caller set. */
  function statusOf(method: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sent = request(url + path, { method, headers }, (response) => resolve(response.resume().statusCode))
      sent.on('error', reject).end()
    })
  }

  it('refuses unsigned webhooks, other names of the host, and buttons pressed by other sites', async () => {
    expect(await statusOf('POST', '/webhooks', { 'webhook-id': 'evt_1' })).toBe(401)
    expect(await statusOf('GET', '/', { host: 'attacker.example' })).toBe(403)
    expect(await statusOf('POST', '/send', { origin: 'http://attacker.example' })).toBe(403)
    expect(await statusOf('POST', '/connect', { 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await statusOf('GET', '/connected?status=success&state=forged', {})).toBe(502)
    expect(await statusOf('GET', '/', {})).toBe(200)
  })
})
