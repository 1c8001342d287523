import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeViolations } from '../kit/browser/axe.ts'
import { closing } from '../kit/closing.ts'
import { type Api, api } from '../kit/http/http.ts'
import { startService } from '../kit/service/service.ts'

/** An application with an experience, and the pages that show it. */
export interface BookingStage {
  url: string
  api: Api
  key: string
  /** Creates an experience and returns its slug. */
  experience(members?: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

const DAY_MS = 86_400_000
const FORM = {
  title: 'Who are you?',
  submitButtonLabel: 'Book the call',
  fields: [
    { name: 'company', label: 'Company', type: 'text', placeholder: 'Example Ltd' },
    { name: 'phone', label: 'Phone', type: 'phone', required: true },
    {
      name: 'topic',
      label: 'Topic',
      type: 'select',
      required: true,
      options: [
        { value: 'sales', label: 'Sales' },
        { value: 'support', label: 'Support' },
      ],
    },
    {
      name: 'languages',
      label: 'Languages',
      type: 'multiselect',
      options: [
        { value: 'en', label: 'English' },
        { value: 'de', label: 'German' },
      ],
    },
    { name: 'notes', label: 'Notes', type: 'textarea' },
    { name: 'terms', label: 'I accept the terms', type: 'checkbox', required: true },
  ],
}

/** Those that the form requires. */
const ANSWERS = { phone: '+49 30 123456', topic: 'sales', terms: true }

/** Every day from nine to five but today, so that the first day has all its times whenever the test runs. */
function openHours() {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(new Date())
  return {
    openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '09:00', end: '17:00' }],
    overrides: [{ date: today, closed: true }],
  }
}

export async function openBookingStage(environment: Record<string, string> = {}): Promise<BookingStage> {
  const service = await startService({ environment })
  const owner = api(service.url, service.key)
  let created = 0
  return {
    url: service.url,
    api: owner,
    key: service.key,
    async experience(members = {}) {
      created += 1
      const slug = `call-${created}`
      const body = {
        slug,
        name: 'Introductory call',
        description: 'A short call to get to know each other.',
        timezone: 'Europe/Berlin',
        availability: openHours(),
        bookingForm: FORM,
        ...members,
      }
      const { status, text } = await owner.post('/scheduler/experiences', body)
      expect([status, text]).toEqual([201, expect.anything()])
      return slug
    },
    close: () => service.stop(),
  }
}

/** Books a slot of the experience as a guest, and returns the booking with links to this service. */
export async function book({ url }: BookingStage, slug: string, form: Record<string, unknown> = ANSWERS) {
  const guest = api(url)
  const path = `/scheduler/experiences/${slug}`
  const range = { start: new Date().toISOString(), end: new Date(Date.now() + 10 * DAY_MS).toISOString() }
  const { slots } = (await guest.post(`${path}/availability`, { range, durationMinutes: 30 })).json
  const { status, json } = await guest.post(`${path}/bookings`, {
    slot: slots[20],
    guest: { name: 'Ada', email: 'ada@example.com', timezone: 'Asia/Tokyo' },
    responses: form,
  })
  expect([status, json]).toMatchObject([201, { status: 'confirmed' }])
  // The links have the host of PUBLIC_URL.
  const here = (link: string) => url + new URL(link).pathname + new URL(link).search
  return {
    id: json.id,
    slot: slots[20],
    links: { cancel: here(json.links.cancel), reschedule: here(json.links.reschedule) },
  }
}

/** A page that another site serves, with its policy. */
export interface Site {
  origin: string
  close(): Promise<void>
}

export async function startSite(html: () => string, policy?: () => string): Promise<Site> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (policy !== undefined) response.setHeader('content-security-policy', policy())
    response.end(html())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    // Another site than 127.0.0.1.
    origin: `http://localhost:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

export interface Look {
  width?: number
  scheme?: 'light' | 'dark'
  locale?: string
  javaScriptEnabled?: boolean
}

export interface Visit {
  page: Page
  /** Errors in the console, and requests to origins other than these. */
  problems: string[]
  /** Nothing that a visitor could see or a program could find is wrong with the page as it is. */
  inspect(name: string): Promise<void>
}

export interface VisitDeps {
  browser: Browser
  /** Origins that the page may request. */
  origins: readonly string[]
  keep(page: Page, name: string): Promise<void>
}

/** A new visitor. */
export async function visit({ browser, origins, keep }: VisitDeps, look: Look = {}): Promise<Visit> {
  const { width = 1100, scheme = 'light', locale = 'en-US', javaScriptEnabled = true } = look
  const context = closing(
    await browser.newContext({
      javaScriptEnabled,
      locale,
      timezoneId: 'America/New_York',
      colorScheme: scheme,
      viewport: { width, height: 800 },
    }),
  )
  context.setDefaultTimeout(300_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('request', (request) => {
    if (!origins.some((origin) => request.url().startsWith(`${origin}/`))) problems.push(`request to ${request.url()}`)
  })
  return {
    page,
    problems,
    async inspect(name) {
      await keep(page, `booking ${name} ${locale} ${scheme} ${width}`)
      for (const frame of page.frames()) expect([name, await axeViolations(frame)]).toEqual([name, []])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      expect(await context.cookies()).toEqual([])
    },
  }
}
