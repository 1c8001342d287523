import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { openPortalStage, type PortalStage } from '../scenarios/portal-stage.ts'
import { visitPortal } from '../scenarios/portal-visit.ts'
import { PORTAL_PAGES } from '../scenarios/portal-walk.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { radicaleAvailable } from '../servers/radicale.ts'

const LOOKS = [1280, 768, 390, 320].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
)

/** Every page of the portal in both colour schemes, on a desktop, a tablet and a phone. */
describe.skipIf(!browserAvailable() || !dovecotAvailable() || !radicaleAvailable())('the pages of the portal', () => {
  const keep = screenshots()
  let browser: Browser
  let stage: PortalStage
  beforeAll(async () => {
    browser = await launchBrowser()
    stage = await openPortalStage()
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  it.each(LOOKS)('are accessible and fit the screen: $width px, $scheme', { timeout: 900_000 }, async (look) => {
    const visit = await visitPortal({ browser, url: stage.url, keep }, look)
    for (const { name, path, heading, shows } of PORTAL_PAGES) {
      await visit.open(path(stage), heading)
      await shows(visit.page).waitFor()
      await visit.inspect(name)
    }
    const bookingId = await booked(stage)
    const { deliveries } = (await stage.api.get('/webhooks/deliveries?status=failed&limit=1')).json
    const { messages } = (await stage.api.get(`/accounts/${stage.accounts.ada}/messages?limit=1`)).json
    const { entries } = (await stage.api.get('/audit?limit=1')).json
    expect([deliveries.length, messages.length, entries.length]).toEqual([1, 1, 1])
    const pages = [
      ['delivery', `/deliveries/${deliveries[0].id}`, deliveries[0].eventType],
      ['message', `/accounts/${stage.accounts.ada}?message=${messages[0].id}`, 'ada@acme.example'],
      ['scheduler', '/scheduler', 'Scheduler'],
      ...['general', 'hours', 'form', 'callbacks', 'look', 'share', 'json'].map((tab) => [
        `experience ${tab}`,
        `/scheduler/${SLUG}?tab=${tab}`,
        'Open call',
      ]),
      ['bookings week', '/bookings', 'Bookings'],
      ['bookings list', '/bookings?view=list', 'Bookings'],
      ['booking', `/bookings/${bookingId}`, 'Ada Lovelace'],
      ['booking jobs', '/booking-jobs', 'Booking jobs'],
      ['queue', '/queue', 'Queue'],
      ['backfills', '/backfills', 'Backfills'],
      ['audit', '/audit', 'Audit'],
      ['providers', '/providers', 'Providers'],
      ['appearance', '/appearance', 'Appearance'],
      ['api keys', '/api-keys', 'API keys'],
      ['settings', '/settings?all=1', 'Settings'],
    ]
    for (const [name = '', path = '', heading = ''] of pages) {
      await visit.open(path, heading)
      await visit.inspect(name)
    }
    await visit.page.context().clearCookies()
    await visit.page.reload()
    await visit.page.getByRole('heading', { name: 'Sign in to Posthorn' }).waitFor()
    await visit.inspect('sign-in')
    await visit.close()
  })
})

const SLUG = 'open-call'

/** An experience that is always open, and a booking of it. Returns the booking's id. */
async function booked({ api }: PortalStage): Promise<string> {
  const availability = { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }] }
  await api.post('/scheduler/experiences', { slug: SLUG, name: 'Open call', timezone: 'Europe/Berlin', availability })
  const before = await api.get(`/scheduler/bookings?experienceSlug=${SLUG}`)
  if (before.json.bookings.length > 0) return before.json.bookings[0].id
  const start = new Date()
  start.setUTCHours(start.getUTCHours() + 26, 0, 0, 0)
  const guest = { name: 'Ada Lovelace', email: 'ada@example.com' }
  const { json } = await api.post(`/scheduler/experiences/${SLUG}/bookings`, {
    slot: { start: start.toISOString() },
    guest,
  })
  return json.id
}
