import { expect, it } from 'vitest'
import { calendarLinks } from './calendar-links.ts'

const ENTRY = {
  title: 'Call & coffee + cake #1',
  start: '2026-11-25T09:00:00.000Z',
  end: '2026-11-25T09:30:00.000Z',
  joinUrl: 'https://meet.example/abc?x=1&y=2',
}

it('opens a new event with the title, the times and the conference', () => {
  const google = new URL(calendarLinks(ENTRY).google)
  expect(google.origin).toBe('https://calendar.google.com')
  expect(Object.fromEntries(google.searchParams)).toEqual({
    action: 'TEMPLATE',
    text: ENTRY.title,
    dates: '20261125T090000Z/20261125T093000Z',
    location: ENTRY.joinUrl,
  })
  const outlook = new URL(calendarLinks(ENTRY).outlook)
  expect(outlook.origin).toBe('https://outlook.office.com')
  expect(Object.fromEntries(outlook.searchParams)).toMatchObject({
    subject: ENTRY.title,
    startdt: '2026-11-25T09:00:00Z',
    enddt: '2026-11-25T09:30:00Z',
    location: ENTRY.joinUrl,
  })
})

it('writes spaces as %20, and leaves out a conference that there is not', () => {
  for (const link of Object.values(calendarLinks({ ...ENTRY, title: 'a b\ud800', joinUrl: null }))) {
    expect(link).toContain('a%20b')
    expect(link).not.toContain('location')
  }
})
