import { expect, it } from 'vitest'
import { type CalendarEntry, calendarLinks } from './calendar-links.ts'

const ENTRY: CalendarEntry = {
  title: 'Call & coffee + cake #1',
  start: '2026-11-25T09:00:00.000Z',
  end: '2026-11-25T09:30:00.000Z',
  joinUrl: 'https://meet.example/abc?x=1&y=2',
}

const urls = (entry = ENTRY) => calendarLinks(entry).map(({ href }) => new URL(href))

it('opens a new event with the title, the times and the conference', () => {
  const [google, ...outlooks] = urls()
  expect(google?.href).toMatch(/^https:\/\/calendar\.google\.com\/calendar\/render\?action=TEMPLATE&/)
  expect(Object.fromEntries(google?.searchParams ?? [])).toEqual({
    action: 'TEMPLATE',
    text: ENTRY.title,
    dates: '20261125T090000Z/20261125T093000Z',
    location: ENTRY.joinUrl,
  })
  expect(outlooks.map(({ origin, pathname }) => origin + pathname)).toEqual([
    'https://outlook.live.com/calendar/deeplink/compose',
    'https://outlook.office.com/calendar/deeplink/compose',
  ])
  for (const { searchParams } of outlooks) {
    expect(Object.fromEntries(searchParams)).toEqual({
      subject: ENTRY.title,
      startdt: '2026-11-25T09:00:00Z',
      enddt: '2026-11-25T09:30:00Z',
      location: ENTRY.joinUrl,
    })
  }
})

it('writes spaces as %20, and leaves out a conference that there is not', () => {
  for (const { href } of urls({ ...ENTRY, title: 'a b\ud800', joinUrl: null })) {
    expect(href).toContain('a%20b')
    expect(href).not.toContain('location')
  }
})
