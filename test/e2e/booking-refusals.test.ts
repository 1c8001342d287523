import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeViolations } from '../kit/browser/axe.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { closing } from '../kit/closing.ts'
import { api } from '../kit/http/http.ts'
import { type BookingStage, book, openBookingStage, visit } from '../scenarios/booking-stage.ts'
import { startReceiver } from '../servers/receiver.ts'

const OPTIONS = ['sales', 'support'].map((value) => ({ value, label: value }))
const FORM = {
  fields: [
    { name: 'company', label: 'Firma', type: 'text' },
    { name: 'other', label: 'Andere Adresse', type: 'email' },
    { name: 'topic', label: 'Thema', type: 'select', options: OPTIONS },
    { name: 'website', label: 'Ihre Webseite', type: 'text' },
    ...['Erstens', 'Zweitens', 'Drittens'].map((label) => ({ name: label, label, type: 'textarea' })),
  ],
}

describe.skipIf(!browserAvailable())('what a guest reads about a refusal, in German', () => {
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

  const change = (slug: string, changes: object) => stage.api.patch(`/scheduler/experiences/${slug}`, changes)
  const press = (page: Page) => page.getByRole('button', { name: 'Buchen', exact: true }).click()

  /** The form of a slot, which is not held: a client gets few holds at the same time. */
  async function openForm(members: Record<string, unknown> = {}) {
    const slug = await stage.experience({ bookingForm: FORM, ...members })
    const visitor = await visit({ browser, origins: [stage.url], keep }, { locale: 'de-DE' })
    const { page } = visitor
    await page.route('**/holds', (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'hold_unavailable' } } }),
    )
    await page.goto(`${stage.url}/book/${slug}`)
    await page.locator('.slot').first().click()
    await page.getByLabel('Name', { exact: true }).fill('Ada')
    await page.getByLabel('E-Mail-Adresse').fill('ada@example.com')
    return { ...visitor, slug }
  }

  /** The messages below the fields, by label. */
  const messages = (page: Page): Promise<Record<string, string>> =>
    page
      .locator('.field:has(.error)')
      .evaluateAll((fields: FieldElement[]) =>
        Object.fromEntries(
          fields.map((field) => [
            field.querySelector('label').firstChild.textContent,
            field.querySelector('.error').textContent,
          ]),
        ),
      )

  it('is below each field that the service refuses, by its reason', async () => {
    const { page, slug } = await openForm()
    await page.getByLabel('Name', { exact: true }).fill('www.example.com')
    await page.getByLabel('E-Mail-Adresse').fill('ada@example.123')
    await page.getByLabel('Firma').fill('Eins\tZwei')
    await page.getByLabel('Andere Adresse').fill('ada@example.123')
    await page.getByLabel('Thema').selectOption('sales')
    await change(slug, {
      bookingForm: { fields: FORM.fields.map((field) => ({ ...field, options: OPTIONS.slice(1) })) },
    })
    await press(page)
    await page.getByText('Prüfen Sie die markierten Felder.').waitFor()
    expect(await messages(page)).toEqual({
      Name: 'Lassen Sie Internetadressen weg.',
      'E-Mail-Adresse': expect.stringMatching(/^Geben Sie eine E-Mail/),
      Firma: expect.stringMatching(/^Einige Zeichen/),
      Thema: 'Wählen Sie eine Möglichkeit aus.',
      'Andere Adresse': expect.stringMatching(/^Geben Sie eine E-Mail/),
    })
    await page.getByLabel('Name', { exact: true }).fill('\u200b\u00ad')
    await press(page)
    await expect.poll(async () => (await messages(page)).Name).toBe('Füllen Sie dieses Feld aus.')
  })

  it('says that all answers together are too long', async () => {
    const { page } = await openForm()
    for (const label of ['Erstens', 'Zweitens', 'Drittens']) await page.getByLabel(label).fill('長'.repeat(4000))
    await press(page)
    await page.getByText('Ihre Antworten sind zu lang. Kürzen Sie sie.').waitFor()
    for (const label of ['Erstens', 'Zweitens', 'Drittens']) await page.getByLabel(label).fill('')
    await press(page)
    await page.getByRole('heading', { name: 'Ihre Buchung ist bestätigt' }).waitFor()
  })

  it('offers to load the page again when the form asks for something else meanwhile', async () => {
    const { page, slug } = await openForm()
    const asked = { name: 'budget', label: 'Budget', type: 'text', required: true }
    await change(slug, { bookingForm: { fields: [asked] } })
    await press(page)
    await page.getByText('Diese Seite ist nicht mehr aktuell.').waitFor()
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Neu laden' }).click()])
    await page.locator('.slot').first().click()
    await page.getByLabel('Budget').waitFor()
  })

  it('says that the page was closed, that the time is gone, and that the application failed', async () => {
    const { page, slug } = await openForm()
    await change(slug, { isActive: false })
    await press(page)
    await page.getByText('Diese Buchungsseite ist nicht verfügbar').waitFor()
    const receiver = closing(await startReceiver())
    receiver.always({ status: 500, body: JSON.stringify({ message: 'secret of the endpoint' }) })
    await change(slug, { isActive: true, bookingEndpoint: { url: receiver.url } })
    await press(page)
    await page.getByText('Das Problem liegt bei uns.').waitFor()
    const text = await page.locator('.card').innerText()
    expect(text).not.toMatch(/500|endpoint|127\.0\.0\.1|callback/)
    receiver.always({ status: 409, body: JSON.stringify({ message: 'Taken.' }) })
    await press(page)
    await page.getByText('Diese Zeit ist nicht mehr frei.').waitFor()
  })

  it.each([
    [429, 'mail_limited', 'Es wurden zu viele unbestätigte Nachrichten'],
    [429, 'rate_limited', 'Zu viele Versuche.'],
    [413, 'payload_too_large', 'Ihre Antworten sind zu lang.'],
    [502, 'provider_unavailable', 'Das Problem liegt bei uns.'],
    [502, undefined, 'Das Problem liegt bei uns.'],
  ])('%i %s is a sentence', async (status, code, sentence) => {
    const { page } = await openForm()
    const refusal = { status, body: code === undefined ? '<html>Bad Gateway' : JSON.stringify({ error: { code } }) }
    await page.route('**/bookings', (route) => route.fulfill(refusal))
    await press(page)
    await page.getByText(sentence).waitFor()
  })

  it('does not end the booking of a password manager that fills in the trap and submits', async () => {
    const { page } = await openForm()
    await page.getByLabel('Ihre Webseite').fill('https://ada.example.com')
    await page.locator('.trap input').evaluate((input: { value: string }) => {
      input.value = 'https://ada.example.com'
    })
    await page.locator('form').evaluate((form: { requestSubmit(): void }) => form.requestSubmit())
    await page.getByText('Versuchen Sie es gleich noch einmal.').waitFor()
    expect(await messages(page)).toEqual({})
    await press(page)
    await page.getByRole('heading', { name: 'Ihre Buchung ist bestätigt' }).waitFor()
  })

  it('takes a field of the form that is called like the trap for what it is', async () => {
    const { page, slug } = await openForm()
    await page.getByLabel('Ihre Webseite').fill('https://ada.example.com')
    await page.locator('form').evaluate((form: { requestSubmit(): void }) => form.requestSubmit())
    await page.getByRole('heading', { name: 'Ihre Buchung ist bestätigt' }).waitFor()
    const { bookings } = (await stage.api.get(`/scheduler/bookings?experienceSlug=${slug}`)).json
    expect(bookings).toMatchObject([{ responses: { website: 'https://ada.example.com' } }])
  })

  it('books with an address whose local part has other letters', async () => {
    const { page, slug } = await openForm()
    await page.getByLabel('E-Mail-Adresse').fill('jörg.müller@example.com')
    await press(page)
    await page.getByRole('heading', { name: 'Ihre Buchung ist bestätigt' }).waitFor()
    const { bookings } = (await stage.api.get(`/scheduler/bookings?experienceSlug=${slug}`)).json
    expect(bookings).toMatchObject([{ guest: { email: 'jörg.müller@example.com' } }])
  })

  it('says that a booking that was cancelled meanwhile cannot be moved', async () => {
    const slug = await stage.experience()
    const { id, links } = await book(stage, slug)
    const { page } = await visit({ browser, origins: [stage.url], keep }, { locale: 'de-DE' })
    await page.goto(links.reschedule)
    await page.locator('.slot').first().click()
    await page.getByRole('button', { name: 'Termin verschieben' }).waitFor()
    expect((await stage.api.post(`/scheduler/bookings/${id}/cancel`, {})).status).toBe(200)
    await page.getByRole('button', { name: 'Termin verschieben' }).click()
    await page.getByText('Dieser Termin kann jetzt nicht verschoben werden.').waitFor()
  })

  it('keeps a reason that is too long for the cancellation, in the language of the link', async () => {
    const { links } = await book(stage, await stage.experience())
    const { page } = await visit({ browser, origins: [stage.url], keep })
    await page.goto(`${links.cancel}&locale=de`)
    const reason = `${'x'.repeat(980)}${'\n'.repeat(15)}x`
    await page.getByLabel('Grund').evaluate((area: { maxLength: number }) => {
      area.maxLength = 5000
    })
    await page.getByLabel('Grund').fill(reason + 'x'.repeat(5))
    await page.getByRole('button', { name: 'Termin absagen' }).click()
    await page.getByText('Der Grund ist zu lang.').waitFor()
    expect(await page.getByLabel('Grund').inputValue()).toBe(reason + 'x'.repeat(5))
    expect(await axeViolations(page.mainFrame())).toEqual([])
    await page.getByLabel('Grund').fill(reason)
    await page.getByRole('button', { name: 'Termin absagen' }).click()
    await page.getByText('Abgesagt').waitFor()
  })

  it('is in German although the texts cannot be loaded', async () => {
    const { page } = await visit({ browser, origins: [stage.url], keep }, { locale: 'de-DE' })
    await page.route('**/embed/v1/de-*.js', (route) => route.abort())
    await page.goto(`${stage.url}/book/${await stage.experience()}`)
    await page.getByText('Es besteht keine Verbindung.').waitFor()
    await page.getByRole('button', { name: 'Erneut versuchen' }).waitFor()
  })

  it('is in German for programs that ask for the pages too', async () => {
    const slug = await stage.experience()
    const { links } = await book(stage, slug)
    const german = { accept: 'text/html', 'accept-language': 'de' }
    const wrong = await api(stage.url).get(links.cancel.replace(/token=[^&]+/, 'token=wrong'), german)
    expect([wrong.status, wrong.text]).toEqual([404, expect.stringContaining('Dieser Link ist ungültig')])
  })
})

/** The tests are no code of a browser, so that they have no types of the DOM. */
interface FieldElement {
  querySelector(selector: string): { textContent: string; firstChild: { textContent: string } }
}
