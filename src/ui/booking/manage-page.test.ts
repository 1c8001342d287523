import { describe, expect, it } from 'vitest'
import { brand } from '../hosted/index.ts'
import { type ManagedBooking, type ManagePage, managePage } from './manage-page.ts'
import { BOOKING_LANGUAGES, bookingTexts } from './texts/index.ts'

const BOOKING: ManagedBooking = {
  id: 'bkg_1',
  slug: 'call',
  name: 'Call',
  state: 'past',
  reason: null,
  startMs: Date.UTC(2026, 10, 2, 9),
  endMs: Date.UTC(2026, 10, 2, 10),
  timezone: 'UTC',
  joinUrl: null,
  calendarFile: 'booking.ics',
  isBookable: true,
  address: 'unknown',
}

function render(language: string, state: ManagedBooking['state'], action: ManagePage['action']) {
  const t = bookingTexts(language, undefined)
  const scripts = { widget: 'widget.js', frame: 'frame.js', preloads: [] }
  const context = { brand: brand({}), nonce: 'n', root: '..', scripts, t }
  const page = managePage(context, { booking: { ...BOOKING, state }, token: 't', locale: undefined, action })
  return { page, t }
}

describe.each(Object.keys(BOOKING_LANGUAGES))('the page of a booking in %s', (language) => {
  it.each(['reschedule', 'cancel'] as const)('says why the link to %s a past booking changes nothing', (action) => {
    const { page, t } = render(language, 'past', action)
    expect(page).toContain(t('booking.past'))
    expect(page).toContain(t('unchangeable.past'))
  })

  it('gives no such reason where nobody asked for a change, or where it is possible', () => {
    for (const { page, t } of [
      render(language, 'past', undefined),
      render(language, 'past', 'confirm'),
      render(language, 'confirmed', 'cancel'),
    ]) {
      expect(page).not.toContain(t('unchangeable.past'))
    }
  })
})
