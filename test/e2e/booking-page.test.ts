import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schedulerFixture } from '../kit/booking/scheduler.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { closing } from '../kit/closing.ts'
import { databases } from '../kit/database/database.ts'
import { api } from '../kit/http/http.ts'
import {
  type BookingStage,
  type Look,
  openBookingStage,
  startSite,
  type Visit,
  visit,
} from '../scenarios/booking-stage.ts'
import { startReceiver } from '../servers/receiver.ts'

describe('the scripts of the widget', () => {
  const manifest = JSON.parse(readFileSync('dist/embed/manifest.json', 'utf8'))
  const compressedSize = (files: string[]) =>
    files.reduce((sum, file) => sum + gzipSync(readFileSync(`dist/embed/${file}`), { level: 9 }).length, 0)

  it('are less than 30 kB until a page shows free times, in the longest language', () => {
    const later = /^(steps|week|embed|frame)-/
    const language = /^[a-z]{2}-/
    const laterLanguage = /^steps-[a-z]{2}-/
    const files: string[] = manifest.files
    const texts = files.filter((file) => language.test(file)).map((file) => compressedSize([file]))
    expect(texts).toHaveLength(9)
    const shown = compressedSize(files.filter((file) => !later.test(file) && !language.test(file))) + Math.max(...texts)
    const laterTexts = files.filter((file) => laterLanguage.test(file)).map((file) => compressedSize([file]))
    expect(laterTexts).toHaveLength(9)
    const code = files.filter((file) => /^(steps|week)-/.test(file) && !laterLanguage.test(file))
    const all = shown + compressedSize(code) + Math.max(...laterTexts)
    console.log(`The widget has ${shown} bytes until it shows free times, and ${all} with everything.`)
    expect(shown).toBeLessThan(30_000)
    expect(all).toBeLessThan(38_500)
  })

  it('exist compressed, and under a name that stays the same', () => {
    const files = readdirSync('dist/embed')
    for (const name of [...manifest.files, 'posthorn-scheduler.js', 'embed.js']) {
      expect(files).toEqual(expect.arrayContaining([name, `${name}.br`, `${name}.gz`]))
    }
  })
})

describe.skipIf(!browserAvailable())('the booking page', () => {
  const keep = screenshots()
  const openDatabase = databases('sqlite')
  let browser: Browser
  let stage: BookingStage
  beforeAll(async () => {
    browser = await launchBrowser()
    stage = await openBookingStage()
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  async function open(slug: string, look: Look & { query?: string } = {}): Promise<Visit> {
    const visitor = await visit({ browser, origins: [stage.url], keep }, look)
    await visitor.page.goto(`${stage.url}/book/${slug}${look.query ?? ''}`)
    await visitor.page.locator('.slot').first().waitFor()
    return visitor
  }

  it('is served for browsers with its title and a strict policy, and the scripts for every page', async () => {
    const slug = await stage.experience()
    const stranger = api(stage.url)
    const { status, headers, text } = await stranger.get(`/book/${slug}`, {
      accept: 'text/html',
      'accept-language': 'de',
    })
    expect([status, headers.get('x-frame-options'), headers.get('cache-control')]).toEqual([200, 'DENY', 'no-store'])
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'nonce-[^']+'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    expect(text).toContain('<h1><bdi>Introductory call</bdi></h1>')
    expect(text).toContain('<title>Buchen: Introductory call</title>')
    expect(text).toContain('<noscript>')
    expect(text).not.toMatch(/<script(?! type="module" src=)/)

    const script = new URL(/src="([^"]+)"/.exec(text)?.[1] ?? '', `${stage.url}/book/${slug}`)
    expect(script.pathname).toMatch(/^\/embed\/v1\/posthorn-scheduler-[A-Z0-9]{8}\.js$/)
    for (const [path, cache] of [
      [script.pathname, 'public, max-age=31536000, immutable'],
      ['/embed/v1/posthorn-scheduler.js', 'public, no-cache'],
    ] as const) {
      const file = await stranger.get(path, { origin: 'https://app.example.com' })
      expect([file.status, file.headers.get('cache-control')]).toEqual([200, cache])
      expect(file.headers.get('access-control-allow-origin')).toBe('*')
      expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    }
    expect((await stranger.get('/embed/v1/manifest.json')).status).toBe(404)
  })

  it('names the pages that may frame it, and refuses others', async () => {
    const slug = await stage.experience({ allowedOrigins: ['https://app.example.com'] })
    const stranger = api(stage.url)
    const frame = async (query = '') => stranger.get(`/embed/${slug}${query}`, { accept: 'text/html' })
    const { headers } = await frame()
    expect(headers.get('content-security-policy')).toContain(`frame-ancestors 'self' https://app.example.com`)
    expect(headers.get('x-frame-options')).toBeNull()
    expect((await frame('?origin=https://app.example.com')).text).toContain(
      'data-page-origin="https://app.example.com"',
    )
    expect((await frame('?origin=https://evil.example.com')).text).not.toContain('data-page-origin')
  })

  it('says that an unknown experience is not available, as JSON for programs', async () => {
    const stranger = api(stage.url)
    const page = await stranger.get('/book/nothing-here', { accept: 'text/html' })
    expect([page.status, page.text]).toEqual([404, expect.stringContaining('This booking page is not available')])
    const json = await stranger.get('/book/nothing-here', { accept: 'application/json' })
    expect([json.status, json.json]).toMatchObject([404, { error: { code: 'not_found' } }])
  })

  it('books with the keyboard alone, and moves the focus to each step', async () => {
    const { page, inspect } = await open(await stage.experience())
    await inspect('month')
    const focus = () => page.evaluate(FOCUSED)
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await page.locator('calendar-date').evaluate((element: { focus(): void }) => element.focus())
    const first = await focus()
    // The calendar moves the focus with its next frame, and takes the next key from there.
    for (let step = 0, before = first; step < 2; step += 1, before = await focus()) {
      await press('ArrowRight')
      await expect.poll(focus).not.toBe(before)
    }
    // A day of a month that was not shown before can be taken once its times are there.
    await expect.poll(() => page.evaluate(FOCUSED_DISABLED)).toBe(false)
    await press('Enter')
    await expect.poll(focus).toMatch(/^\w+day, /)
    expect(await focus()).not.toContain(first)
    await press('Tab', 'Tab', 'Enter')
    await expect.poll(focus).toBe('Who are you?')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Ada Lovelace')
    await press('Tab')
    await page.keyboard.type('ada at home')
    await press('Enter')
    await expect.poll(focus).toBe('Email address')
    await inspect('form with errors')
    expect(await page.locator('[aria-invalid=true]').count()).toBe(4)
    await press('Control+A')
    await page.keyboard.type('ada@example.com')
    await press('Tab', 'Tab')
    await page.keyboard.type('+49 30 123456')
    await press('Tab', 'ArrowDown', 'Tab', 'Space', 'Tab', 'Tab', 'Tab', 'Space', 'Tab', 'Enter')
    await expect.poll(focus).toBe('Your booking is confirmed')
    await inspect('confirmation')
  })

  it('says what happens next, and offers the booking to calendars', async () => {
    const host = { name: 'Ada Okafor', title: 'Customer success', photo: 'https://elsewhere.example/ada.png' }
    const slug = await stage.experience({ bookingForm: null, ui: { host } })
    const { page, inspect } = await open(slug, { locale: 'en-US', query: '?timezone=Europe/Berlin' })
    await page.getByText('Ada Okafor').waitFor()
    // A photo of another site is not loaded.
    expect(await page.locator('.host img').count()).toBe(0)
    expect(await page.locator('.slot').first().textContent()).toMatch(/^9:00\sAM$/)
    await page.getByText('24h').click()
    expect(await page.locator('.slot').first().textContent()).toBe('09:00')
    const zone = await page.getByLabel('Time zone').inputValue()
    await page.locator('.slot').first().click()
    await page.getByText('No email is sent about this booking.').waitFor()
    await page.getByLabel('Name').fill('Grace')
    await page.getByLabel('Email address').fill('grace@example.com')
    await page.getByRole('button', { name: 'Book' }).click()
    await page.getByText('No email is sent about this booking.').waitFor()
    const facts = await page.locator('.done .facts li').allTextContents()
    expect(facts.slice(1)).toEqual([expect.stringMatching(/^09:00\s–\s09:30$/), zone.replaceAll('_', ' ')])
    const hrefs = await page
      .locator('.calendars a')
      .evaluateAll((links) => links.map((link) => String(Object(link).href)))
    expect(hrefs.map((href) => new URL(href).hostname)).toEqual([
      'calendar.google.com',
      'outlook.live.com',
      'outlook.office.com',
      expect.anything(),
    ])
    for (const href of hrefs.slice(0, 3)) expect(href).not.toMatch(/token|grace|%40/)
    const { pathname, search } = new URL(hrefs[3] ?? '')
    const file = await api(stage.url).get(pathname + search)
    expect([file.status, file.text]).toEqual([200, expect.stringContaining('SUMMARY:Introductory call')])
    await inspect('confirmation with calendars')
  })

  it.each([
    { name: 'narrow, dark and right to left', look: { width: 320, scheme: 'dark' as const, locale: 'ar' }, ui: null },
    { name: 'as a week', look: { width: 1100, locale: 'de-DE' }, ui: { layout: 'week', theme: { accent: '#0a7f5a' } } },
  ])('is accessible and fits the screen $name', async ({ name, look, ui }) => {
    const { inspect } = await open(await stage.experience({ ui }), look)
    await inspect(name)
  })

  it('loads the slots again when they expire, and those of another month or zone at once', async () => {
    const visitor = await visit({ browser, origins: [stage.url], keep })
    const { page } = visitor
    await page.clock.install()
    const requests: { range: { start: string }; timezone: string }[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/availability') && request.method() === 'POST') requests.push(request.postDataJSON())
    })
    await page.goto(`${stage.url}/book/${await stage.experience()}`)
    await page.locator('.slot').first().waitFor()
    const before = requests.length
    await page.clock.runFor(299_000)
    expect(requests).toHaveLength(before)
    await page.clock.runFor(2_000)
    await expect.poll(() => requests.length).toBe(before + 1)
    await page.getByRole('button', { name: 'Next month' }).click()
    await expect.poll(() => requests.length).toBe(before + 2)
    await page.getByLabel('Time zone').focus()
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
    await expect.poll(() => requests.at(-1)?.timezone).toBe('Asia/Tokyo')
    expect(visitor.problems).toEqual([])
  })

  it('says when a slot is no longer reserved, what the API refuses, and that somebody else was faster', async () => {
    const { page } = await visit({ browser, origins: [stage.url], keep })
    await page.clock.install()
    const slug = await stage.experience({ bookingForm: null })
    await page.goto(`${stage.url}/book/${slug}`)
    const slots = page.locator('.slot')
    await slots.nth(1).click()
    await page.getByLabel('Name').fill('www.example.com')
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Book' }).click()
    await page.getByText('Leave out web addresses.').waitFor()
    await expect.poll(() => page.evaluate(FOCUSED)).toBe('Name')
    await page.clock.runFor(296_000)
    await page.getByText('This time is no longer reserved for you.').waitFor()

    await page.getByRole('button', { name: 'Back' }).click()
    await page.route('**/holds', async (route) => {
      const { slot } = route.request().postDataJSON()
      const guest = { name: 'Grace', email: 'grace@example.com' }
      const taken = await api(stage.url).post(`/scheduler/experiences/${slug}/bookings`, { slot, guest })
      expect(taken.status).toBe(201)
      await route.continue()
    })
    const time = await slots.nth(2).textContent()
    await slots.nth(2).click()
    await page.getByText('This time is no longer free.').waitFor()
    await expect.poll(() => slots.allTextContents()).not.toContain(time)
  })

  it('asks for the code that is sent to the address of the guest', async () => {
    const fixture = schedulerFixture(await openDatabase())
    const url = await fixture.app.listen({ port: 0, host: '127.0.0.1' })
    const created = await fixture.call('POST', '/scheduler/experiences', {
      slug: 'intro-call',
      name: 'Intro call',
      defaultAccountIds: [await fixture.account()],
      availability: { openHours: EVERY_DAY },
      bookingForm: { verifyEmail: true },
    })
    expect(created.status).toBe(201)
    const { page, inspect } = await visit({ browser, origins: [url], keep })
    await page.goto(`${url}/book/intro-call`)
    await page.locator('.slot').first().click()
    await page.getByLabel('Name').fill('Grace')
    await page.getByLabel('Email address').fill('grace@example.org')
    await page.getByRole('button', { name: 'Book' }).click()
    await page.getByText('We sent a code to grace@example.org.').waitFor()
    await inspect('code')
    await page.getByRole('button', { name: 'Back' }).click()
    expect(await page.getByLabel('Email address').inputValue()).toBe('grace@example.org')
    await page.getByRole('button', { name: 'Book' }).click()
    const readCode = async () => {
      const row = await fixture.db.read.selectFrom('outbox').select('subject').orderBy('id', 'desc').executeTakeFirst()
      return row?.subject.slice(0, 6) ?? ''
    }
    await page.getByLabel('Code').fill((await readCode()) === '000000' ? '1' : '000000')
    await page.keyboard.press('Enter')
    await page.getByText('This code is not right').waitFor()
    await page.getByRole('button', { name: 'Send a new code' }).click()
    await page.getByText('A new code is on its way.').waitFor()
    await page.getByLabel('Code').fill(await readCode())
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Your booking is confirmed' }).waitFor()
  })

  it('keeps the times when one refresh fails, and loads them again by itself', async () => {
    const { page } = await visit({ browser, origins: [stage.url], keep })
    await page.clock.install()
    await page.goto(`${stage.url}/book/${await stage.experience()}`)
    await page.locator('.slot').first().waitFor()
    let requests = 0
    await page.route('**/availability', async (route) => {
      requests += 1
      if (requests === 1) await route.fulfill({ status: 503, json: { error: { code: 'database_unavailable' } } })
      else await route.continue()
    })
    await page.clock.runFor(301_000)
    await expect.poll(() => requests).toBe(1)
    expect(await page.locator('.slot').count()).toBeGreaterThan(0)
    await page.clock.runFor(31_000)
    await expect.poll(() => requests).toBe(2)
    expect(await page.locator('.slot').count()).toBeGreaterThan(0)
  })

  it('says what to do when a script is missing after an upgrade, and goes on when it is there', async () => {
    const { page } = await visit({ browser, origins: [stage.url], keep })
    await page.route('**/steps-*.js', (route) => route.fulfill({ status: 404 }))
    // A client gets few holds at the same time.
    const none = { error: { code: 'hold_unavailable', message: 'No hold.', type: 'conflict' } }
    await page.route('**/holds', (route) => route.fulfill({ status: 409, json: none }))
    await page.goto(`${stage.url}/book/${await stage.experience({ bookingForm: null })}`)
    await page.locator('.slot').first().click()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute('**/steps-*.js')
    await Promise.all([page.waitForEvent('load'), again.click()])
    // The page was loaded anew, because the browser may remember the failure.
    await page.locator('.slot').first().click()
    await page.getByLabel('Name').waitFor()
  })

  it('books although a password manager has filled in the trap', async () => {
    const { page } = await open(await stage.experience({ bookingForm: null }))
    await page.locator('.slot').first().click()
    await page.getByLabel('Name').fill('Ada Lovelace')
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.locator('input[name=website]').evaluate((input: { value: string }) => {
      input.value = 'https://ada.example.com'
    })
    await page.getByRole('button', { name: 'Book' }).click()
    await page.getByRole('heading', { name: 'Your booking is confirmed' }).waitFor()
  })

  it('refuses to show slots without generatedAt', async () => {
    const { page, problems } = await visit({ browser, origins: [stage.url], keep })
    await page.route('**/availability', async (route) => {
      await route.fulfill({ json: { slots: [], expiresAt: null } })
    })
    await page.goto(`${stage.url}/book/${await stage.experience()}`)
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await expect.poll(() => problems.join()).toContain('generatedAt is required')
    expect(await page.locator('calendar-date').count()).toBe(0)
  })

  it('says in the console what the availability callback lacks, and a sentence on the page', async () => {
    const receiver = closing(await startReceiver())
    const respond = (body: object) => receiver.always({ status: 200, body: JSON.stringify(body) })
    const slug = await stage.experience({ availabilityEndpoint: { url: receiver.url } })
    const { page, problems } = await visit({ browser, origins: [stage.url], keep })
    respond({ slots: [] })
    await page.goto(`${stage.url}/book/${slug}`)
    await page.getByText('Something went wrong on our side').waitFor()
    await expect.poll(() => problems.join()).toContain('generatedAt is required')
    expect(await page.locator('calendar-date').count()).toBe(0)
    expect(await page.getByText('generatedAt').count()).toBe(0)

    const now = new Date().toISOString()
    respond({ generatedAt: now, slots: [] })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('calendar-date').waitFor()
  })

  it('works as an element on a page of another origin', async () => {
    const site = closing(
      await startSite(
        () => `<!doctype html><html lang="en"><title>App</title><main><h1>Our product</h1>
<posthorn-scheduler experience-slug="${slug}" prefill-name="Ada" duration-minutes="60"></posthorn-scheduler></main>
<script type="module" src="${stage.url}/embed/v1/posthorn-scheduler.js"></script></html>`,
      ),
    )
    const slug = await stage.experience({ allowedOrigins: [site.origin] })
    const { page, inspect } = await visit({ browser, origins: [stage.url, site.origin], keep })
    await page.goto(site.origin)
    await page.locator('.slot').first().click()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada')
    await inspect('element')
  })
})

const EVERY_DAY = [{ days: [0, 1, 2, 3, 4, 5, 6], start: '09:00', end: '17:00' }]

/** The text or label of the focused element, in whatever shadow tree it is. */
const FIND_FOCUSED = `
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
`
const FOCUSED_DISABLED = `(() => {${FIND_FOCUSED}
  return element?.getAttribute('aria-disabled') === 'true'
})()`
const FOCUSED = `(() => {${FIND_FOCUSED}
  return (element?.ariaLabel ?? element?.labels?.[0]?.textContent ?? element?.textContent ?? '').trim()
})()`
