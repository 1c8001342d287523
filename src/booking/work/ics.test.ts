import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { type Component, parseObject, properties, property, readText } from '../../platform/calendar/components.ts'
import { type Invitation, invitationIcs } from './ics.ts'

const INVITATION: Invitation = {
  method: 'REQUEST',
  uid: 'bkg_1@booking.example',
  sequence: 2,
  changedAt: Date.parse('2026-11-20T08:30:01Z'),
  startMs: Date.parse('2026-11-25T09:00:00Z'),
  endMs: Date.parse('2026-11-25T09:30:00Z'),
  timezone: 'Europe/Berlin',
  summary: 'Intro call',
  description: 'Line one\nLine, two',
  location: '',
  url: 'https://meet.example/abc',
  organizer: { email: 'ada@acme.example', name: 'Ada; Okafor' },
  attendees: [{ email: 'lin@northwind.example', name: 'Lin "L" Duarte', accepted: true }],
}

function parseEvent(ics: string): { calendar: Component; event: Component } {
  const calendar = parseObject(ics)
  const event = calendar?.components.find(({ name }) => name === 'VEVENT')
  if (calendar === undefined || event === undefined) throw new Error(`not an invitation: ${ics}`)
  return { calendar, event }
}

describe('an invitation', () => {
  it('has method, UID, sequence, people and the zone that its times are in', () => {
    const ics = invitationIcs(INVITATION)
    const { calendar, event } = parseEvent(ics)
    expect(property(calendar, 'METHOD')?.value).toBe('REQUEST')
    expect(readText(event, 'UID')).toBe('bkg_1@booking.example')
    expect(property(event, 'SEQUENCE')?.value).toBe('2')
    expect(property(event, 'DTSTAMP')?.value).toBe('20261120T083001Z')
    const start = property(event, 'DTSTART')
    expect([start?.value, start?.parameters.get('TZID')]).toEqual(['20261125T100000', 'Europe/Berlin'])
    expect(calendar.components.map(({ name }) => name)).toEqual(['VTIMEZONE', 'VEVENT'])
    expect(readText(event, 'DESCRIPTION')).toBe('Line one\nLine, two')
    expect(property(event, 'ORGANIZER')).toMatchObject({ value: 'mailto:ada@acme.example' })
    expect(property(event, 'ORGANIZER')?.parameters.get('CN')).toBe('Ada; Okafor')
    const guest = property(event, 'ATTENDEE')
    expect(Object.fromEntries(guest?.parameters ?? [])).toMatchObject({ CN: 'Lin "L" Duarte', PARTSTAT: 'ACCEPTED' })
    expect(property(event, 'STATUS')?.value).toBe('CONFIRMED')
    expect(ics.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true)
  })

  it('gives times in UTC that a zone cannot name: of two equal local times, the second', () => {
    const second = Date.parse('2026-10-25T01:15:00Z')
    const { event } = parseEvent(invitationIcs({ ...INVITATION, startMs: second, endMs: second + 1_800_000 }))
    expect(property(event, 'DTSTART')?.value).toBe('20261025T011500Z')
    const first = parseEvent(invitationIcs({ ...INVITATION, startMs: second - 3_600_000, endMs: second - 2_400_000 }))
    expect(property(first.event, 'DTSTART')?.value).toBe('20261025T021500')
    const { event: unknown } = parseEvent(invitationIcs({ ...INVITATION, timezone: 'Mars/Olympus' }))
    expect(property(unknown, 'DTSTART')?.value).toBe('20261125T090000Z')
  })

  it('ends the meeting with CANCEL', () => {
    const { calendar, event } = parseEvent(invitationIcs({ ...INVITATION, method: 'CANCEL' }))
    expect([property(calendar, 'METHOD')?.value, property(event, 'STATUS')?.value]).toEqual(['CANCEL', 'CANCELLED'])
  })

  it('keeps hostile text within its property', () => {
    const part = fc.constantFrom(
      '\r\n',
      '\n',
      'ATTENDEE:mailto:x@y.z',
      'END:VEVENT',
      ';',
      ':',
      ',',
      '"',
      '^',
      '\\',
      '\u2028',
      'a',
      '\u00e9',
    )
    const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, text, (summary, name, url) => {
        const people = { organizer: { email: 'a@b.test', name }, attendees: [{ email: 'c@d.test', name }] }
        const { calendar, event } = parseEvent(
          invitationIcs({ ...INVITATION, ...people, summary, description: name, url }),
        )
        expect(calendar.components).toHaveLength(2)
        expect(properties(event, 'ATTENDEE').map(({ value }) => value)).toEqual(['mailto:c@d.test'])
        expect(properties(event, 'ORGANIZER')).toHaveLength(1)
        expect(readText(event, 'SUMMARY')).toBe(summary.replaceAll(/\r\n?/g, '\n'))
      }),
    )
  })
})
