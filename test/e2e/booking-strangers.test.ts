import type { Browser, Page } from 'playwright-core'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { closing } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { type BookingStage, openBookingStage, visit } from '../scenarios/booking-stage.ts'
import { OPERATOR, visitPortal } from '../scenarios/portal-visit.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { type SmtpSink, startSmtpSink } from '../servers/smtp.ts'

const DAY_MS = 86_400_000
const TOMORROW = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10)
const GUEST = 'ada@northwind.example'

describe.skipIf(!browserAvailable() || !dovecotAvailable())('a guest whom nobody knows', () => {
  const keep = screenshots()
  let browser: Browser
  let stage: BookingStage
  let server: Dovecot
  let smtp: SmtpSink
  let accountId: string

  beforeAll(async () => {
    ;[browser, server, smtp, stage] = await Promise.all([
      launchBrowser(),
      startDovecot(),
      startSmtpSink(),
      openBookingStage({
        SCHEDULER_MAIL_PER_CLIENT: '1',
        ADMIN_USERNAME: OPERATOR.username,
        ADMIN_PASSWORD: OPERATOR.password,
      }),
    ])
    await server.addUser('host', 'one')
    const linked = await stage.api.post('/accounts', {
      email: 'host@acme.example',
      host: server.host,
      port: server.imapsPort,
      username: 'host',
      password: 'one',
      allowSelfSigned: true,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
    })
    expect([linked.status, linked.text]).toEqual([200, expect.anything()])
    accountId = linked.json.id
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
    await Promise.all([smtp?.close(), server?.stop()])
  })

  /** One free time, which nobody can hold. */
  const experience = (availability: object) =>
    stage.experience({ defaultAccountIds: [accountId], availability, bookingForm: null })

  async function fillIn(page: Page, slug: string) {
    await page.goto(`${stage.url}/book/${slug}`)
    await page.locator('.slot').first().click()
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('Email address').fill(GUEST)
    await page.getByText('You get an invitation at this address').waitFor()
    await page.getByRole('button', { name: 'Book' }).click()
  }

  async function confirmLink(email = GUEST): Promise<string> {
    return eventually(async () => {
      const message = smtp.messages.find(({ to }) => to.includes(email))
      const { text = '' } = await PostalMime.parse(message?.raw ?? '')
      const link = text.split(/\s+/).find((word) => word.includes('action=confirm'))
      if (link === undefined) throw new Error('the message has not arrived')
      const { pathname, search } = new URL(link)
      return stage.url + pathname + search
    })
  }

  it('books a time that cannot be held, confirms the address without JavaScript, and reads why a limit refuses more', async () => {
    const last = await experience({ overrides: [{ date: TOMORROW, start: '09:00', end: '09:30' }] })
    const { page, inspect, problems } = await visit({ browser, origins: [stage.url], keep })
    await fillIn(page, last)
    await page.getByRole('heading', { name: 'Your booking is confirmed' }).waitFor()
    await page.getByText(`An invitation is on its way to ${GUEST}.`).waitFor()
    // The hold was refused.
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')])
    await inspect('confirmation of a stranger')

    const next = await experience({ overrides: [{ date: TOMORROW, start: '10:00', end: '12:00' }] })
    await fillIn(page, next)
    await page.getByText('Too many unconfirmed messages').waitFor()
    expect(problems.splice(0)).toEqual([expect.stringContaining('429')])
    await inspect('limit of messages')

    const portal = closing(await visitPortal({ browser, url: stage.url, keep }))
    await portal.open('/scheduler')
    await portal.page.getByText('Refuses messages').waitFor()
    await portal.inspect('scheduler with a limit of messages')
    await portal.open(`/scheduler/${next}`)
    await portal.page.getByText('1 request was refused since.').waitFor()
    await portal.inspect('experience with a limit of messages')

    const link = await confirmLink()
    for (const look of [{}, { width: 375, scheme: 'dark', locale: 'ar' }] as const) {
      const shown = await visit({ browser, origins: [stage.url], keep }, look)
      await shown.page.goto(link)
      await shown.inspect('confirm address')
    }
    const plain = await visit({ browser, origins: [stage.url], keep }, { javaScriptEnabled: false })
    await plain.page.goto(link)
    await plain.page.getByRole('button', { name: 'Confirm address' }).click()
    await plain.page.getByText('Your address is confirmed.').waitFor()
    await keep(plain.page, 'booking address confirmed')
    // The confirmed message no longer counts.
    await page.getByRole('button', { name: 'Book' }).click()
    await page.getByRole('heading', { name: 'Your booking is confirmed' }).waitFor()
  })

  it('reads in German that confirming the address would cause too many messages', async () => {
    const slug = await experience({ overrides: [{ date: TOMORROW, start: '14:00', end: '15:00' }] })
    const path = `/scheduler/experiences/${slug}`
    const range = { start: `${TOMORROW}T00:00:00Z`, end: `${TOMORROW}T23:00:00Z` }
    const stranger = api(stage.url)
    const { slots } = (await stranger.post(`${path}/availability`, { range, durationMinutes: 30 })).json
    const made = await stranger.post(`${path}/bookings`, {
      slot: slots[0],
      guest: { email: 'eve@northwind.example', name: 'Eve' },
      attendees: [{ email: 'kim@northwind.example' }, { email: 'lou@northwind.example' }],
    })
    expect(made.status).toBe(201)
    const { pathname, searchParams } = new URL(await confirmLink('eve@northwind.example'))
    const german = { accept: 'text/html', 'accept-language': 'de' }
    const refused = await stranger.form(`${pathname}/confirm`, { token: searchParams.get('token') ?? '' }, german)
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('Zu viele Nachrichten')])
  })
})
