import { request } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { type RunningDemo, startDemo } from '../kit/service/demo.ts'
import { bookFirstSlot, connectMailbox, openDemoPage, receiveMessage } from '../scenarios/demo-page.ts'

const MARKUP = '<img src=x onerror="document.title=\'attacked\'">'

describe.skipIf(!browserAvailable())('the page of the demo', () => {
  let browser: Browser
  let demo: RunningDemo
  let url: string
  beforeAll(async () => {
    demo = startDemo({ booking: true })
    browser = await launchBrowser()
    url = await demo.url()
  })
  afterAll(async () => {
    await browser?.close()
    await demo?.close()
  })

  it('connects with one click on the hosted pages, and shows a message with its verified webhook', async () => {
    const { page, check, close } = await openDemoPage(browser, url)
    await page.getByText('No mailbox is connected yet').waitFor()
    expect(await page.getByRole('button', { name: 'Send me a message' }).isDisabled()).toBe(true)
    await check()
    await page.getByRole('button', { name: 'Connect a mailbox' }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByText('No mailbox was connected.').waitFor()

    const visited: string[] = []
    page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).pathname))
    await connectMailbox(page, 'ada@demo.posthorn.example')
    expect(visited).toEqual(['/auth/authorize', '/auth/authorize', '/auth/authorize/imap', '/'])
    await receiveMessage(page)

    await page.locator('#step-list summary').click()
    await page.locator('#step-list').getByRole('button', { name: 'Copy' }).click()
    await page.locator('#step-list').getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^curl 'http:\S+\/accounts\/acc_\w+\/messages' \\\n {2}-H 'Authorization: Bearer [\w-]+'$/,
    )
    await check()
    const [connecting, listing] = ['#step-connect', '#step-list'].map((id) => page.locator(`${id} .took`))
    expect([await connecting?.textContent(), await listing?.textContent()]).toEqual([
      '',
      expect.stringMatching(/ m?s$/),
    ])
    expect(demo.output()).toMatch(/→ 5 messages:/)
    expect(demo.output()).toContain('the standardwebhooks package verified its signature')
    await close()
  })

  it('shows the same in dark mode at 320 px, and hostile content as text', async () => {
    const { page, check, close } = await openDemoPage(browser, url, { scheme: 'dark', width: 320 })
    await page.getByText('Your notes, translated').first().waitFor()
    await page.locator('.webhook summary').first().click()
    await check()

    const message = { id: 'a', subject: MARKUP, snippet: MARKUP, from: { name: MARKUP, email: '' }, receivedAt: 0 }
    const view = await page.evaluate(
      `new Promise((resolve) => new EventSource('/events').addEventListener('view', ({ data }) => resolve(JSON.parse(data))))`,
    )
    const hostile = Object.assign(view as object, {
      inbox: { messages: [message], total: 1 },
      webhooks: [{ id: MARKUP, type: MARKUP, signedAt: 0, body: JSON.stringify({ data: MARKUP }) }],
      notice: MARKUP,
      user: MARKUP,
    })
    const body = `event: view\ndata: ${JSON.stringify(hostile)}\n\n`
    await page.route('**/events', (route) => route.fulfill({ contentType: 'text/event-stream', body }))
    await page.reload()
    await page.locator('.webhook summary').click()
    await page.locator('.webhook pre').getByText(MARKUP.replaceAll('"', '\\"')).waitFor()
    expect(await page.locator('.subject').textContent()).toBe(MARKUP)
    expect([await page.title(), await page.locator('img').count()]).toEqual(['Posthorn demo', 0])
    await close()
  })

  /** Status of a request with these headers, which fetch would not let a caller set. */
  function requestStatus(method: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sent = request(url + path, { method, headers }, (response) => resolve(response.resume().statusCode))
      sent.on('error', reject).end()
    })
  }

  it('leads a guest to the booking page, and shows the webhook of the booking', async () => {
    const { page, check, close } = await openDemoPage(browser, url)
    const opened = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Open the booking page' }).click()
    await bookFirstSlot(await opened)
    await page.locator('.webhook').filter({ hasText: 'booking.confirmed' }).waitFor()
    await page.getByText('A guest booked').waitFor()
    expect(demo.output()).toContain('A signed booking.confirmed webhook arrived')
    await check()
    await close()
  })

  it('leads to the portal, signed in, as often as one likes', async () => {
    const { page, close } = await openDemoPage(browser, url)
    for (let visit = 1; visit <= 2; visit += 1) {
      const opened = page.waitForEvent('popup')
      await page.getByRole('button', { name: 'Admin portal' }).click()
      await (await opened).getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    }
    await close()
  })

  it('refuses unsigned webhooks, other names of the host, and buttons pressed by other sites', async () => {
    expect(await requestStatus('POST', '/webhooks', { 'webhook-id': 'evt_1' })).toBe(401)
    expect(await requestStatus('GET', '/', { host: 'attacker.example' })).toBe(403)
    expect(await requestStatus('POST', '/send', { origin: 'http://attacker.example' })).toBe(403)
    expect(await requestStatus('POST', '/connect', { 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await requestStatus('POST', '/portal', { 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await requestStatus('GET', '/connected?status=success&state=forged', {})).toBe(502)
    expect(await requestStatus('GET', '/', {})).toBe(200)
  })
})
