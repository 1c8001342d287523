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

function render(language: string, more: Partial<ManagedBooking>, action: ManagePage['action']) {
  const t = bookingTexts(language, undefined)
  const scripts = { widget: 'widget.js', frame: 'frame.js', preloads: [] }
  const context = { brand: brand({}), nonce: 'n', root: '..', scripts, t }
  const page = managePage(context, { booking: { ...BOOKING, ...more }, token: 't', locale: undefined, action })
  return { page, t }
}

describe.each(Object.keys(BOOKING_LANGUAGES))('the page of a booking in %s', (language) => {
  it.each(['reschedule', 'cancel'] as const)('says why the link to %s a past booking changes nothing', (action) => {
    const { page, t } = render(language, { state: 'past' }, action)
    expect(page).toContain(t('booking.past'))
    expect(page).toContain(t('unchangeable.past'))
  })

  it.each(['reschedule', 'cancel'] as const)('says why the link to %s a pending booking changes nothing', (action) => {
    const { page, t } = render(language, { state: 'pending' }, action)
    expect(page).toContain(t('booking.pending'))
    expect(page).toContain(t('unchangeable.pending'))
  })

  it('says why a booking of a closed page cannot be moved, and offers to cancel it', () => {
    const { page, t } = render(language, { state: 'confirmed', isBookable: false }, 'reschedule')
    expect(page).toContain(t('unchangeable.closed'))
    expect(page).toContain(t('cancel.submit'))
  })

  it('gives no such reason where nobody asked for a change, or where it is possible', () => {
    for (const { page, t } of [
      render(language, { state: 'past' }, undefined),
      render(language, { state: 'past' }, 'confirm'),
      render(language, { state: 'pending' }, undefined),
      render(language, { state: 'confirmed' }, 'cancel'),
      render(language, { state: 'confirmed' }, 'reschedule'),
      render(language, { state: 'confirmed', isBookable: false }, 'cancel'),
    ]) {
      expect(page).not.toContain(t('unchangeable.past'))
      expect(page).not.toContain(t('unchangeable.pending'))
      expect(page).not.toContain(t('unchangeable.closed'))
    }
  })
})
