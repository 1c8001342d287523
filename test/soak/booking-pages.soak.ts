import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BOOKING_LANGUAGES } from '../../src/ui/booking/texts/index.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { closing } from '../kit/closing.ts'
import { book, openBookingStage, visit } from '../scenarios/booking-stage.ts'

const WIDTHS = [1280, 700, 375, 320]
const LOOKS = Object.keys(BOOKING_LANGUAGES).flatMap((locale) =>
  (['light', 'dark'] as const).flatMap((scheme) => WIDTHS.map((width) => ({ locale, scheme, width }))),
)

describe.skipIf(!browserAvailable())('every booking page in every look', () => {
  const keep = screenshots()
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  // A service of its own for each look, because services limit the requests of an address.
  it.each(LOOKS)('is accessible and fits the screen: $locale, $scheme, $width px', async (look) => {
    const stage = closing(await openBookingStage())
    const [month, week] = [await stage.experience(), await stage.experience({ ui: { layout: 'week' } })]
    const { page, inspect } = await visit({ browser, origins: [stage.url], keep }, look)
    await page.goto(`${stage.url}/book/${week}`)
    await page.locator('.slot').first().waitFor()
    await inspect('week')
    await page.goto(`${stage.url}/book/${month}`)
    await page.locator('.slot').first().waitFor()
    await inspect('month')
    await page.locator('.slot').first().click()
    await page.locator('form .button').click()
    expect(await page.locator('[aria-invalid=true]').count()).toBeGreaterThan(3)
    await inspect('form')
    const { links } = await book(stage, month)
    await page.goto(links.cancel)
    await page.locator('textarea').waitFor()
    await inspect('booking')
    await page.goto(links.reschedule)
    await page.locator('.slot').first().click()
    await page.locator('.step .button').waitFor()
    await inspect('move')
    await page.locator('.step .button').click()
    await page.locator('.done').waitFor()
    await inspect('moved')
    await page.goto(links.cancel)
    await page.locator('.danger').click()
    await page.locator('.state.bad').waitFor()
    await inspect('cancelled')
  })
})
