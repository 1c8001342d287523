import { describe, expect, it } from 'vitest'
import { fc } from '../../../../test/kit/random/random.ts'
import { mapEvents } from '../../caldav/events/map.ts'
import { ObjectZones } from '../../caldav/events/zones.ts'
import { joinSplitCharacters, parseDav } from './multistatus.ts'

/** Lines of at most `octets` octets, which may end within a character. */
function folded(text: string, octets: number, lineEnd: string): Buffer {
  const bytes = Buffer.from(text)
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += octets) pieces.push(bytes.subarray(at, at + octets), Buffer.from(lineEnd))
  return Buffer.concat(pieces.slice(0, -1))
}

const unfolded = (bytes: Buffer) => bytes.toString('utf8').replaceAll(/(?:\r|&#13;)?\n[ \t]/g, '')

describe('joinSplitCharacters', () => {
  it('restores every text that was folded by octets', () => {
    const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((text) => !/[\s&]/.test(text))
    const ends = fc.constantFrom('\r\n ', '\n ', '\r\n\t', '&#13;\n ')
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 9 }), ends, (text, octets, end) => {
        expect(unfolded(joinSplitCharacters(folded(text, octets, end)))).toBe(text)
      }),
    )
  })

  it('returns the same bytes where no character is split', () => {
    const bytes = Buffer.from('SUMMARY:Zo\u00eb\r\n und \u00e9\r\n \u00fc\n')
    expect(joinSplitCharacters(bytes).equals(bytes)).toBe(true)
  })

  it('makes a summary readable that a server returns so', async () => {
    const summary = 'B\u00fcro \u{1f4c5} '.repeat(30).trim()
    const event = ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', 'DTSTART:20270601T070000Z']
    const object = Buffer.concat([
      Buffer.from(`${event.join('\r\n')}\r\n`),
      folded(`SUMMARY:${summary}`, 74, '\r\n '),
      Buffer.from('\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'),
    ])
    const body = Buffer.concat([
      Buffer.from(
        '<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response><d:href>/1</d:href>',
      ),
      Buffer.from('<d:propstat><d:prop><c:calendar-data>'),
      object,
      Buffer.from(
        '</c:calendar-data></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>',
      ),
    ])
    const [resource] = (await parseDav(body, 'testing')).resources
    const text = resource?.properties.get('C:calendar-data')?.text ?? ''
    const [found] = await mapEvents(
      { path: '/1', etag: null, text },
      { zones: new ObjectZones(), addresses: new Set() },
    )
    expect(found?.summary).toBe(summary)
  })
})
