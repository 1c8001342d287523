import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { api } from '../kit/http/http.ts'
import { type BookingStage, book, openBookingStage, visit } from '../scenarios/booking-stage.ts'

describe.skipIf(!browserAvailable())('the page of a booking', () => {
  const keep = screenshots()
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

  async function booked() {
    const slug = await stage.experience()
    const { id, slot, links } = await book(stage, slug)
    return { slug, slot, links, status: async () => (await stage.api.get(`/scheduler/bookings/${id}`)).json }
  }

  it('cancels with a reason, without JavaScript, and changes nothing when it is opened', async () => {
    const { status, links } = await booked()
    const before = await status()
    const shown = await visit({ browser, origins: [stage.url], keep })
    await shown.page.goto(links.cancel)
    await shown.inspect('cancel')
    expect(await status()).toEqual(before)
    const { page } = await visit({ browser, origins: [stage.url], keep }, { javaScriptEnabled: false })
    await page.goto(links.cancel)
    await page.getByLabel('Reason').fill('I am <b>ill</b>.')
    await page.getByRole('button', { name: 'Cancel booking' }).click()
    await page.getByText('Cancelled').waitFor()
    expect(await page.getByText('I am <b>ill</b>.').count()).toBe(1)
    expect(await status()).toMatchObject({ status: 'cancelled', cancelledBy: 'guest', reason: 'I am <b>ill</b>.' })
    expect(await page.getByRole('button').count()).toBe(0)
    await shown.page.reload()
    await shown.inspect('cancelled')
  })

  it('moves the booking to another time', async () => {
    const { slot, status, links } = await booked()
    const { page, inspect } = await visit({ browser, origins: [stage.url], keep }, { width: 375, scheme: 'dark' })
    await page.goto(links.cancel)
    await page.getByRole('link', { name: 'Choose another time' }).click()
    await page.locator('.slot').first().waitFor()
    await inspect('reschedule')
    await page.locator('.slot').nth(1).click()
    await page.getByRole('heading', { name: 'Move your booking' }).waitFor()
    await page.getByRole('button', { name: 'Move booking' }).click()
    await page.getByRole('heading', { name: 'Your booking has been moved' }).waitFor()
    const moved = await status()
    expect(moved.status).toBe('rescheduled')
    expect(moved.slot.start).not.toBe(slot.start)
    await page.goto(links.cancel)
    await page.getByText('Confirmed').waitFor()
  })

  it('is private, and refuses wrong tokens and other experiences', async () => {
    const { slug, links } = await booked()
    const guest = api(stage.url)
    const html = { accept: 'text/html' }
    const { pathname, searchParams } = new URL(links.cancel)
    const found = await guest.get(links.cancel, html)
    expect(found.status).toBe(200)
    expect(found.text).toContain('noindex')
    for (const [name, value] of [
      ['cache-control', 'no-store'],
      ['referrer-policy', 'no-referrer'],
      ['x-frame-options', 'DENY'],
    ] as const) {
      expect([name, found.headers.get(name)]).toEqual([name, value])
    }
    for (const path of [
      `${pathname}?token=wrong`,
      `${pathname.replace(slug, 'another-call')}?token=${searchParams.get('token')}`,
    ]) {
      const refused = await guest.get(path, html)
      expect([refused.status, refused.text]).toEqual([404, expect.stringContaining('This link is not valid')])
    }
    expect((await guest.get(pathname, html)).status).toBe(400)
    expect((await guest.form(pathname, { token: 'wrong' }, html)).status).toBe(404)
    const token = searchParams.get('token') ?? ''
    const cancelled = await guest.form(pathname, { token }, html)
    expect([cancelled.status, cancelled.headers.get('location')]).toEqual([
      303,
      `${pathname.split('/').at(-1)}?token=${encodeURIComponent(token)}`,
    ])
  })
})
