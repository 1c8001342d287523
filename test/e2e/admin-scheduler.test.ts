import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { OPERATOR, type PortalVisit, visitPortal } from '../scenarios/portal-visit.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
const PATH = '/scheduler/experiences/intro-call'

describe.skipIf(!browserAvailable())('the scheduler in the portal', () => {
  const keep = screenshots()
  let browser: Browser
  let service: Service
  let owner: Api
  let visit: PortalVisit
  beforeAll(async () => {
    browser = await launchBrowser()
    service = await startService({
      environment: { ADMIN_USERNAME: OPERATOR.username, ADMIN_PASSWORD: OPERATOR.password },
    })
    owner = api(service.url, service.key)
    visit = await visitPortal({ browser, url: service.url, keep })
  })
  afterAll(async () => {
    await visit?.close()
    await browser?.close()
    await service?.stop()
  })

  const stored = async () => (await owner.get(PATH)).json

  async function save() {
    const { page } = visit
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('You have changes that are not saved.').waitFor({ state: 'detached' })
  }

  it('creates an experience, edits each part of it, and previews it', async () => {
    const { page, open, inspect } = visit
    await open('/scheduler')
    await page.getByText('No experience yet').waitFor()
    await inspect('scheduler empty')
    await page.getByRole('button', { name: 'Create an experience' }).first().click()
    await page.getByLabel('Name').fill('Intro call')
    expect(await page.getByLabel('Slug').inputValue()).toBe('intro-call')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('textbox', { name: 'Callback secret' }).waitFor()
    const secret = await page.getByRole('textbox', { name: 'Callback secret' }).inputValue()
    expect(secret).toMatch(/^whsec_.{20,}/)
    await inspect('scheduler secret')
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { name: 'Intro call', level: 1 }).waitFor()

    await page.getByLabel('Description').fill(`Half an hour. ${HOSTILE}`)
    await page.getByRole('combobox', { name: 'Allowed origins' }).fill('https://www.example.com')
    await page.keyboard.press('Enter')
    await save()
    expect(await stored()).toMatchObject({
      description: `Half an hour. ${HOSTILE}`,
      allowedOrigins: ['https://www.example.com'],
      timezone: 'Europe/Berlin',
    })
    await inspect('experience general')

    await page.getByRole('button', { name: 'Copy link' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe((await stored()).bookingUrl)
    expect(await page.getByRole('link', { name: 'Open page' }).getAttribute('href')).toBe(
      `${service.url}/book/intro-call`,
    )

    await page.getByRole('tab', { name: 'Hours' }).click()
    await hours()
    await page.getByRole('tab', { name: 'Form' }).click()
    await form()
    await page.getByRole('tab', { name: 'Callbacks' }).click()
    await callbacks()

    await page.getByRole('tab', { name: 'Appearance' }).click()
    await page.getByText('Week', { exact: true }).click()
    await page.getByLabel('Accent', { exact: true }).fill('#0a7f5a')
    await page.getByLabel('Title', { exact: true }).fill(`Meet us ${HOSTILE}`)
    await save()
    expect((await stored()).ui).toEqual({
      layout: 'week',
      theme: { accent: '#0a7f5a' },
      copy: { title: `Meet us ${HOSTILE}` },
    })
    await inspect('experience appearance')

    await host()

    await page.getByRole('tab', { name: 'JSON' }).click()
    const json = page.getByLabel('The experience as JSON')
    const text = JSON.parse(await json.inputValue())
    await json.fill(JSON.stringify({ ...text, metadata: { team: 'sales' }, bookingEndpoint: null }))
    await page.getByRole('button', { name: 'Apply to the editor' }).click()
    await save()
    expect(await stored()).toMatchObject({ metadata: { team: 'sales' }, bookingEndpoint: null })
    await inspect('experience json')

    await page.getByRole('tab', { name: 'Preview and embed' }).click()
    const frame = page.frameLocator('iframe')
    await frame.getByRole('heading', { name: `Meet us ${HOSTILE}` }).waitFor()
    await frame.getByText(`Ada ${HOSTILE}`).waitFor()
    expect(await frame.locator('.host img').getAttribute('src')).toMatch(/^data:image\/webp;base64,/)
    await frame.locator('.slot, [aria-label]').first().waitFor()
    await page.getByRole('tab', { name: 'Popup' }).click()
    await page.getByRole('button', { name: 'Copy the code' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('data-posthorn-mode="popup"')
    await inspect('experience preview')
  })

  async function hours() {
    const { page, inspect } = visit
    // With the keyboard: later, longer, and on Saturday.
    await page.getByRole('button', { name: 'Friday, 09:00 to 17:00' }).focus()
    for (const key of ['ArrowDown', 'Shift+ArrowUp', 'ArrowRight']) {
      await page.keyboard.press(key)
    }
    await page.getByRole('button', { name: 'Saturday, 09:15 to 17:00' }).waitFor()
    await page.getByRole('button', { name: 'Monday, 09:00 to 17:00' }).focus()
    await page.keyboard.press('Delete')
    // With the pointer: from 10:00 to 12:00 on Sunday.
    const column = page.locator('.week-column').nth(6)
    const { x, y, width, height } = (await column.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const at = (hour: number) => y + (hour / 24) * height
    await page.mouse.move(x + width / 2, at(10))
    await page.mouse.down()
    await page.mouse.move(x + width / 2, at(11))
    await page.mouse.move(x + width / 2, at(12))
    await page.mouse.up()
    await page.getByRole('button', { name: 'Sunday, 10:00 to 12:00' }).waitFor()
    // Exactly.
    await page.getByLabel('End on Tuesday').fill('12:20')
    await page.getByLabel('End on Tuesday').press('Enter')
    await page.getByText('Closed', { exact: true }).last().click()
    await page.getByLabel('Notice').fill('120')
    await page.getByLabel('Length', { exact: true }).fill('45')
    await page.getByText('One, in turn').click()
    await save()
    const { availability } = await stored()
    expect(availability).toMatchObject({
      durationMinutes: 45,
      minimumNoticeMinutes: 120,
      assignment: 'round_robin',
      overrides: [{ date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), closed: true }],
    })
    expect(availability.openHours).toHaveLength(4)
    expect(availability.openHours).toEqual(
      expect.arrayContaining([
        { days: [2], start: '09:00', end: '12:20' },
        { days: [3, 4], start: '09:00', end: '17:00' },
        { days: [6], start: '09:15', end: '17:00' },
        { days: [0], start: '10:00', end: '12:00' },
      ]),
    )
    await inspect('experience hours')
  }

  async function form() {
    const { page, inspect } = visit
    const add = page.getByRole('button', { name: 'Add a question' })
    await add.click()
    await page.getByLabel('Label', { exact: true }).fill(`Company ${HOSTILE}`)
    await page.getByLabel('Name', { exact: true }).first().fill('company')
    await page.getByLabel('Required').check()
    await add.click()
    const second = page.getByRole('listitem').filter({ hasText: 'Question 2' })
    await second.getByRole('combobox', { name: 'Kind' }).click()
    await page.getByRole('option', { name: 'One of several' }).click()
    await second.getByLabel('Label of option 1').fill('Sales')
    await second.getByLabel('Value of option 1').fill('sales')
    await second.getByRole('button', { name: 'Move Question 2 up' }).click()
    await page.getByText('Question 2 is now field 1 of 2.').waitFor()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    await page.getByRole('combobox', { name: 'is one of' }).fill('sales')
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'then book with' }).click()
    await page.getByRole('option', { name: 'a page' }).click()
    await page.getByLabel('URL of the page').fill('https://www.example.com/sales')
    await save()
    expect((await stored()).bookingForm).toEqual({
      fields: [
        { name: 'field2', label: 'Question 2', type: 'select', options: [{ value: 'sales', label: 'Sales' }] },
        { name: 'company', label: `Company ${HOSTILE}`, type: 'text', required: true },
      ],
      routing: [{ when: { field: 'field2', equals: 'sales' }, redirectUrl: 'https://www.example.com/sales' }],
    })
    await inspect('experience form')
  }

  async function host() {
    const { page, inspect } = visit
    const problem = (text: string) => page.locator('.mantine-InputWrapper-error').filter({ hasText: text })
    const choose = (name: string, mimeType: string, buffer: Buffer) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer })
    await page.getByLabel('Role').fill('Customer success')
    await problem('Enter a name.').waitFor()
    await choose('logo.png', 'image/png', Buffer.from('no image'))
    await problem('logo.png is not an image').waitFor()
    // The bar of unsaved changes covers what is below it.
    await save()
    await inspect('experience host with problems')
    await page.getByLabel('Name', { exact: true }).fill(`Ada ${HOSTILE}`)
    await problem('Enter a name.').waitFor({ state: 'detached' })
    await choose('photo.png', 'image/png', await page.screenshot())
    const shown = page.getByRole('img', { name: 'The photo or logo' })
    await expect.poll(() => shown.evaluate((image) => Object(image).naturalWidth), { timeout: 60_000 }).toBe(110)
    await problem('is not an image').waitFor({ state: 'detached' })
    await save()
    await inspect('experience host')
    await page.setViewportSize({ width: 390, height: 860 })
    await inspect('experience host on a phone')
    await page.setViewportSize({ width: 1280, height: 860 })
    const { ui } = await stored()
    expect(ui).toMatchObject({
      layout: 'week',
      host: { name: `Ada ${HOSTILE}`, title: 'Customer success', photo: expect.stringMatching(/^data:image\/webp;/) },
    })
    expect(ui.host.photo.length).toBeLessThan(24_000)
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('button', { name: 'Choose an image' }).waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await owner.patch(PATH, { ui: { ...ui, host: { ...ui.host, photo: 'https://elsewhere.example/ada.png' } } })
    await page.reload()
    await problem('as a data: URL only').waitFor()
    await owner.patch(PATH, { ui })
    await page.reload()
    await page.getByRole('img', { name: 'The photo or logo' }).waitFor()
  }

  async function callbacks() {
    const { page, inspect } = visit
    await page.getByRole('switch', { name: 'Use the booking endpoint' }).press('Space')
    await page.getByLabel('URL').fill('https://app.example.com/book')
    await page.getByRole('button', { name: 'Use a secret of its own' }).click()
    expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/^whsec_/)
    await save()
    expect((await stored()).bookingEndpoint).toMatchObject({ url: 'https://app.example.com/book', secret: '***' })
    await inspect('experience callbacks')
  }

  it('shows bookings as a week and a list, moves and cancels one, and runs its jobs', async () => {
    const slug = 'open-call'
    const all = { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }] }
    await owner.post('/scheduler/experiences', {
      slug,
      name: `Open ${HOSTILE}`,
      timezone: 'Europe/Berlin',
      availability: { ...all, durationMinutes: 30 },
      bookingForm: { fields: [{ name: 'topic', label: `Topic ${HOSTILE}`, type: 'text' }] },
    })
    const start = new Date()
    start.setUTCHours(start.getUTCHours() + 26, 0, 0, 0)
    const guest = { name: `Ada ${HOSTILE}`, email: 'ada@example.com', timezone: 'Asia/Tokyo' }
    const booked = await owner.post(`/scheduler/experiences/${slug}/bookings`, {
      slot: { start: start.toISOString() },
      guest,
      responses: { topic: HOSTILE },
    })
    expect(booked.status).toBe(201)
    const { id } = booked.json
    const { page, open, inspect } = visit
    await open('/scheduler')
    await page.getByText('1 booking', { exact: true }).waitFor()
    await inspect('scheduler')

    const week = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(start)
    await open(`/bookings?week=${week}&experienceSlug=${slug}`)
    await page.getByRole('link', { name: guest.name }).waitFor()
    await inspect('bookings week')
    await page.getByText('List', { exact: true }).click()
    await page.getByRole('link', { name: guest.name }).click()
    await page.getByRole('heading', { name: guest.name, level: 1 }).waitFor()
    await page.getByText(`Topic ${HOSTILE}`).waitFor()
    await inspect('booking')

    await page.getByRole('button', { name: 'Move', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const next = new Date(start.getTime() + 86_400_000)
    const inBerlin = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'Europe/Berlin' }).format(next)
    const times = dialog.getByRole('group', { name: 'Free times' })
    await times.getByRole('button').first().waitFor()
    if (
      inBerlin({ month: 'short' }) !==
      new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'Europe/Berlin' }).format(start)
    ) {
      await dialog.getByRole('button', { name: 'Next month' }).click()
    }
    await dialog.getByRole('button', { name: inBerlin({ month: 'long', day: 'numeric' }), exact: true }).click()
    await dialog.getByText(inBerlin({ weekday: 'long', month: 'long', day: 'numeric' })).waitFor()
    await times.getByRole('button').nth(3).click()
    await inspect('booking move')
    await dialog.getByRole('button', { name: 'Move and inform the guest' }).click()
    await dialog.waitFor({ state: 'detached' })
    const moved = (await owner.get(`/scheduler/bookings/${id}`)).json
    expect(moved).toMatchObject({ status: 'rescheduled' })
    expect(Date.parse(moved.slot.start)).toBeGreaterThan(start.getTime())

    const reminder = page.getByRole('row').filter({ hasText: 'Remind' }).first()
    await reminder.getByRole('button', { name: 'Cancel' }).click()
    const jobs = async () => (await owner.get(`/scheduler-queue/jobs?bookingId=${id}&status=cancelled`)).json.jobs
    await expect.poll(async () => (await jobs()).length).toBeGreaterThan(0)
    const [{ id: jobId }] = await jobs()
    await open(`/booking-jobs?status=cancelled`)
    await page.getByRole('button', { name: 'Retry' }).first().waitFor()
    await inspect('booking jobs')
    await page.getByRole('button', { name: 'Retry' }).first().click()
    await expect.poll(async () => (await jobs()).map((job: { id: string }) => job.id)).not.toContain(jobId)

    await open(`/bookings/${id}`)
    await page.getByRole('button', { name: 'Cancel the booking' }).click()
    await page.getByLabel('Reason').fill('We are closed.')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the booking' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('We are closed.').waitFor()
    expect((await owner.get(`/scheduler/bookings/${id}`)).json).toMatchObject({
      status: 'cancelled',
      reason: 'We are closed.',
      cancelledBy: 'api',
    })
    await inspect('booking cancelled')
  })
})
