import { describe, expect, it } from 'vitest'
import { readWithOthers } from '../../../test/kit/calendars/readers/ics-readers.ts'
import { fc } from '../../../test/kit/random/random.ts'
import { type Component, parseObject, properties, property, readText } from '../../platform/calendar/components.ts'
import { type Invitation, invitationIcs } from './invitation-ics.ts'

const INVITATION: Invitation = {
  method: 'REQUEST',
  uid: 'bkg_1@booking.example',
  sequence: 2,
  changedAt: Date.parse('2026-11-20T08:30:01Z'),
  startMs: Date.parse('2026-11-25T09:00:00Z'),
  endMs: Date.parse('2026-11-25T09:30:00Z'),
  summary: 'Intro call',
  description: 'Line one\nLine, two',
  location: '',
  url: 'https://meet.example/abc',
  organizer: { email: 'ada@acme.example', name: 'Ada; Okafor' },
  attendees: [{ email: 'lin@northwind.example', name: 'Lin "L" Duarte', accepted: true }],
}

const wholeSeconds = (ms: number) => new Date(ms).toISOString().replace('.000', '')

function parseEvent(ics: string): { calendar: Component; event: Component } {
  const calendar = parseObject(ics)
  const event = calendar?.components.find(({ name }) => name === 'VEVENT')
  if (calendar === undefined || event === undefined) throw new Error(`not an invitation: ${ics}`)
  return { calendar, event }
}

describe('an invitation', () => {
  it('has method, UID, sequence, people and times in UTC', () => {
    const ics = invitationIcs(INVITATION)
    const { calendar, event } = parseEvent(ics)
    expect(property(calendar, 'METHOD')?.value).toBe('REQUEST')
    expect(readText(event, 'UID')).toBe('bkg_1@booking.example')
    expect(property(event, 'SEQUENCE')?.value).toBe('2')
    expect(property(event, 'DTSTAMP')?.value).toBe('20261120T083001Z')
    expect(property(event, 'DTSTART')).toMatchObject({ value: '20261125T090000Z', parameters: new Map() })
    expect(calendar.components.map(({ name }) => name)).toEqual(['VEVENT'])
    expect(readText(event, 'DESCRIPTION')).toBe('Line one\nLine, two')
    expect(property(event, 'ORGANIZER')).toMatchObject({ value: 'mailto:ada@acme.example' })
    expect(property(event, 'ORGANIZER')?.parameters.get('CN')).toBe('Ada; Okafor')
    const guest = property(event, 'ATTENDEE')
    expect(Object.fromEntries(guest?.parameters ?? [])).toMatchObject({ CN: 'Lin "L" Duarte', PARTSTAT: 'ACCEPTED' })
    expect(property(event, 'STATUS')?.value).toBe('CONFIRMED')
    expect(ics.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true)
  })

  it('means to other programs what it means to us, with odd texts and long lines', () => {
    const texts = [
      'Semicolon; comma, colon: "quotes" and 100 %',
      'A back\\slash and a caret^ ^n',
      'Two\nlines, three\r\nlines',
      'BEGIN:VEVENT\nDTSTART:19700101T000000Z',
      ' between spaces ',
      '\u05e2\u05d1\u05e8\u05d9\u05ea, e\u0301 and \u2028',
      '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}'.repeat(12),
      // The 75th octet is in turn each octet of an emoji and of what follows it.
      ...Array.from({ length: 9 }, (_, length) => `${'a'.repeat(60 + length)}${'\u{1f389}\u00e9\u65e5'.repeat(20)}`),
      'long '.repeat(500),
    ]
    const invitations = texts.map((text, index): Invitation => {
      const startMs = INVITATION.startMs + index * 86_400_000
      const times = { startMs, endMs: startMs + 2_700_000, sequence: index }
      return { ...INVITATION, ...times, summary: text, location: text, description: text }
    })
    const files = invitations.map(invitationIcs)
    const lines = files.flatMap((file) => file.split('\r\n'))
    expect(lines.filter((line) => Buffer.byteLength(line) > 75)).toEqual([])
    for (const [index, read] of readWithOthers(files).entries()) {
      const { startMs, endMs, summary = '' } = invitations[index] ?? INVITATION
      const text = summary.replaceAll('\r\n', '\n')
      const expected = {
        errors: [],
        method: 'REQUEST',
        uid: 'bkg_1@booking.example',
        sequence: index,
        status: 'CONFIRMED',
        start: wholeSeconds(startMs),
        end: wholeSeconds(endMs),
        summary: text,
        location: text,
        description: text,
      }
      expect(read).toEqual({ icalendar: expected, vobject: expected })
    }
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
        expect(calendar.components).toHaveLength(1)
        expect(properties(event, 'ATTENDEE').map(({ value }) => value)).toEqual(['mailto:c@d.test'])
        expect(properties(event, 'ORGANIZER')).toHaveLength(1)
        expect(readText(event, 'SUMMARY')).toBe(summary.replaceAll(/\r\n?/g, '\n'))
      }),
    )
  })
})
