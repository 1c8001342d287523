import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser.ts'
import { screenshots } from '../kit/screenshots.ts'
import { openPortalStage, type PortalStage } from '../scenarios/portal-stage.ts'
import { PORTAL_PAGES, visitPortal } from '../scenarios/portal-walk.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { radicaleAvailable } from '../servers/radicale.ts'

const LOOKS = [1280, 768, 390].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })))

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

  it.each(LOOKS)('of scheduling, operation and configuration fit the screen, too: $width px, $scheme', async (look) => {
    const visit = await visitPortal({ browser, stage, keep }, look)
    const bookingId = await booked(stage)
    const pages = [
      ['scheduler', '/scheduler', 'Scheduler'],
      ...['general', 'hours', 'form', 'callbacks', 'look', 'share', 'json'].map((tab) => [
        ...[`experience ${tab}`, `/scheduler/${SLUG}?tab=${tab}`, 'Open call'],
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
    expect(visit.problems).toEqual([])
    await visit.close()
  })

  it.each(LOOKS)('are accessible and fit the screen: $width px, $scheme', async (look) => {
    const visit = await visitPortal({ browser, stage, keep }, look)
    for (const { name, path, heading, shows } of PORTAL_PAGES) {
      await visit.open(path(stage), heading)
      await shows(visit.page).waitFor()
      await visit.inspect(name)
    }
    expect(visit.problems).toEqual([])
    await visit.close()
  })
})

const SLUG = 'open-call'

/** An experience that is always open, and a booking of it. Returns the booking's id. */
async function booked({ api }: PortalStage): Promise<string> {
  const availability = { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }] }
  await api.post('/scheduler/experiences', { slug: SLUG, name: 'Open call', timezone: 'Europe/Berlin', availability })
  const known = await api.get(`/scheduler/bookings?experienceSlug=${SLUG}`)
  if (known.json.bookings.length > 0) return known.json.bookings[0].id
  const start = new Date()
  start.setUTCHours(start.getUTCHours() + 26, 0, 0, 0)
  const guest = { name: 'Ada Lovelace', email: 'ada@example.com' }
  const { json } = await api.post(`/scheduler/experiences/${SLUG}/bookings`, {
    ...{ slot: { start: start.toISOString() }, guest },
  })
  return json.id
}
