import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeViolations } from '../kit/axe.ts'
import { closing } from '../kit/closing.ts'
import { type Api, api } from '../kit/http.ts'
import { startService } from '../kit/service.ts'

/** An application with an experience, and the pages that show it. */
export interface BookingStage {
  url: string
  api: Api
  /** Creates an experience and returns its slug. */
  experience(members?: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

const FORM = {
  title: 'Who are you?',
  submitButtonLabel: 'Book the call',
  fields: [
    { name: 'company', label: 'Company', type: 'text', placeholder: 'Example Ltd' },
    { name: 'phone', label: 'Phone', type: 'phone', required: true },
    {
      ...{ name: 'topic', label: 'Topic', type: 'select', required: true },
      options: [
        { value: 'sales', label: 'Sales' },
        { value: 'support', label: 'Support' },
      ],
    },
    {
      ...{ name: 'languages', label: 'Languages', type: 'multiselect' },
      options: [
        { value: 'en', label: 'English' },
        { value: 'de', label: 'German' },
      ],
    },
    { name: 'notes', label: 'Notes', type: 'textarea' },
    { name: 'terms', label: 'I accept the terms', type: 'checkbox', required: true },
  ],
}

/** Every day from nine to five. */
const HOURS = { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '09:00', end: '17:00' }] }

export async function openBookingStage(): Promise<BookingStage> {
  const service = await startService({ environment: { TRUSTED_PROXIES: 'loopback' } })
  const owner = api(service.url, service.key)
  let created = 0
  return {
    url: service.url,
    api: owner,
    async experience(members = {}) {
      created += 1
      const slug = `call-${created}`
      const body = {
        ...{ slug, name: 'Introductory call', description: 'A short call to get to know each other.' },
        ...{ timezone: 'Europe/Berlin', availability: HOURS, bookingForm: FORM, ...members },
      }
      const { status, text } = await owner.post('/scheduler/experiences', body)
      expect([status, text]).toEqual([201, expect.anything()])
      return slug
    },
    close: () => service.stop(),
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

let visitors = 0

/** A new visitor with an address of their own, because services limit the requests of an address. */
export async function visit({ browser, origins, keep }: VisitDeps, look: Look = {}): Promise<Visit> {
  const { width = 1100, scheme = 'light', locale = 'en-US' } = look
  visitors += 1
  const context = closing(
    await browser.newContext({
      ...{ locale, timezoneId: 'America/New_York', colorScheme: scheme, viewport: { width, height: 800 } },
      extraHTTPHeaders: { 'x-forwarded-for': `203.0.113.${visitors % 250}` },
    }),
  )
  context.setDefaultTimeout(15_000)
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
