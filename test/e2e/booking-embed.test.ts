import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchStrictBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { closing } from '../kit/closing.ts'
import { type BookingStage, openBookingStage, type Site, startSite, visit } from '../scenarios/booking-stage.ts'

/** Everything that a page with the embed script has to allow. */
const policyFor = (service: string, ...others: string[]) =>
  `default-src 'none'; script-src ${service}; frame-src ${[service, ...others].join(' ')}; base-uri 'none'; form-action 'none'`

describe.skipIf(!browserAvailable())('a page with the embed script', () => {
  const keep = screenshots()
  let browser: Browser
  let stage: BookingStage
  beforeAll(async () => {
    browser = await launchStrictBrowser()
    stage = await openBookingStage()
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  /** A site with a strict policy that embeds a new experience. `body` gets its slug. */
  async function embedding(body: (slug: string) => string, frames: Site[] = []) {
    let html = ''
    const site = closing(
      await startSite(
        () => html,
        () => policyFor(stage.url, ...frames.map(({ origin }) => origin)),
      ),
    )
    const slug = await stage.experience({ allowedOrigins: [site.origin] })
    html = `<!doctype html><html lang="en"><title>Our product</title><main><h1>Our product</h1>${body(slug)}
<p><a href="/other">Another link</a></p></main>
<script src="${stage.url}/embed/v1/embed.js"></script></html>`
    const origins = [stage.url, site.origin, ...frames.map(({ origin }) => origin)]
    const visitor = await visit({ browser, origins, keep })
    await visitor.page.addInitScript(RECORD)
    await visitor.page.goto(site.origin)
    return { ...visitor, slug, site }
  }

  const events = (page: Page) => page.evaluate<string[]>('globalThis.recorded.map(({ name }) => name)')
  async function findFrame(page: Page): Promise<Frame> {
    await expect.poll(() => page.frames().some((frame) => frame.url().startsWith(`${stage.url}/embed/`))).toBe(true)
    const frame = page.frames().find((candidate) => candidate.url().startsWith(`${stage.url}/embed/`))
    if (frame === undefined) throw new Error('There is no frame.')
    await frame.locator('.slot').first().waitFor()
    return frame
  }

  it('opens a popup that keeps the focus, books, and closes with Escape', async () => {
    const { page, inspect } = await embedding(
      (slug) =>
        `<button data-posthorn-slug="${slug}" data-posthorn-mode="popup" data-posthorn-prefill-name="Ada" data-posthorn-theme="dark">Book a call</button>`,
    )
    const button = page.getByRole('button', { name: 'Book a call' })
    await button.focus()
    await page.keyboard.press('Enter')
    const frame = await findFrame(page)
    await inspect('popup')
    expect(await frame.locator('posthorn-scheduler').getAttribute('theme')).toBe('dark')
    // Backwards from the start, which is the shorter way out.
    for (let press = 0; press < 6; press += 1) {
      await page.keyboard.press('Shift+Tab')
      expect(await page.evaluate('document.activeElement.matches("main *")')).toBe(false)
    }

    await frame.locator('.slot').first().click()
    await expect.poll(() => frame.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada')
    await frame.getByLabel('Email address').fill('ada@example.com')
    await frame.getByLabel('Phone').fill('+49 30 123456')
    await frame.getByLabel('Topic').selectOption('sales')
    await frame.getByLabel('I accept the terms').check()
    await frame.getByRole('button', { name: 'Book the call' }).click()
    await frame.getByRole('heading', { name: 'Your booking is confirmed' }).waitFor()
    await expect.poll(() => events(page)).toEqual(['ready', 'slot-selected', 'booked'])
    expect(await page.evaluate('globalThis.recorded[2].detail.booking.status')).toBe('confirmed')

    pressEscape(page)
    await expect.poll(() => events(page)).toEqual(['ready', 'slot-selected', 'booked', 'close'])
    await expect.poll(() => button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
    await expect.poll(() => page.frames()).toHaveLength(1)
  })

  it('shows the page inline, as high as its content, where cookies of other sites are blocked', async () => {
    const { page, inspect } = await embedding((slug) => `<div data-posthorn-slug="${slug}"></div>`)
    const frame = await findFrame(page)
    // This shows that they are blocked: the service itself sets none.
    await frame.evaluate(`document.cookie = 'probe=1; SameSite=None; Secure'`)
    expect(await frame.evaluate('document.cookie')).toBe('')
    const readHeight = () => page.locator('iframe').evaluate((element) => element.clientHeight)
    await expect.poll(readHeight).not.toBe(640)
    const before = await readHeight()
    await inspect('inline')
    await frame.locator('.slot').first().click()
    await frame.locator('form').waitFor()
    await expect.poll(readHeight).toBeGreaterThan(before)
  })

  it('has a floating button that opens the popup', async () => {
    const { page } = await embedding(
      (slug) => `<div data-posthorn-slug="${slug}" data-posthorn-mode="floating" data-posthorn-label="Meet us"></div>`,
    )
    await page.getByRole('button', { name: 'Meet us' }).click()
    await findFrame(page)
    await page.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => events(page)).toEqual(['ready', 'close'])
  })

  it('ignores messages of other origins, and so does the frame', async () => {
    const attacker = closing(await startSite(() => ATTACK))
    const { page } = await embedding(
      (slug) =>
        `<div data-posthorn-slug="${slug}"></div><iframe title="Advertisement" src="${attacker.origin}"></iframe>`,
      [attacker],
    )
    const frame = await findFrame(page)
    await expect.poll(() => events(page)).toEqual(['ready'])
    const evil = page.frames().find((candidate) => candidate.url().startsWith(attacker.origin))
    await evil?.evaluate('attack()')
    await frame.locator('.slot').first().click()
    await frame.locator('form').waitFor()
    expect(await frame.getByLabel('Name', { exact: true }).inputValue()).toBe('')
    expect(await frame.locator('posthorn-scheduler').getAttribute('theme')).toBeNull()
    await expect.poll(() => events(page)).toEqual(['ready', 'slot-selected'])
  })

  it('gets no messages, and no frame, without being allowed', async () => {
    const slug = await stage.experience({ allowedOrigins: ['https://app.example.com'] })
    const site = closing(
      await startSite(
        () =>
          `<!doctype html><html lang="en"><title>App</title><div data-posthorn-slug="${slug}"></div><script src="${stage.url}/embed/v1/embed.js"></script></html>`,
      ),
    )
    const { page, problems } = await visit({ browser, origins: [stage.url, site.origin], keep })
    await page.goto(site.origin)
    await expect.poll(() => problems.join()).toContain('frame-ancestors')
    expect(await page.frames()[1]?.locator('posthorn-scheduler').count()).toBe(0)
  })
})

/** Does not wait: when the frame with the focus goes before the key is released, Chromium never confirms the release. */
function pressEscape(page: Page): void {
  page.keyboard.press('Escape').catch(() => {})
}

/** Records the events that the page can receive, from its start. */
const RECORD = `globalThis.recorded = []
for (const name of ['ready', 'slot-selected', 'booked', 'error', 'redirect', 'close'])
  document.addEventListener('posthorn:' + name, ({ detail }) => recorded.push({ name, detail }))`

/** A page in another frame that pretends to be the frame, to the page, and the page, to the frame. */
const ATTACK = `<!doctype html><html lang="en"><title>Advertisement</title><script>
function attack() {
  const booking = { status: 'confirmed' }
  for (const name of ['booked', 'close', 'error', 'redirect']) {
    parent.postMessage({ type: 'posthorn:v1:' + name, booking, url: 'https://evil.example.com' }, '*')
  }
  for (let index = 0; index < parent.frames.length; index += 1) {
    parent.frames[index].postMessage({ type: 'posthorn:v1:prefill', values: { name: 'Eve' } }, '*')
    parent.frames[index].postMessage({ type: 'posthorn:v1:theme', theme: 'dark' }, '*')
  }
}
</script></html>`
