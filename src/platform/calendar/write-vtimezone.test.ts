import { describe, expect, it } from 'vitest'
import { zoneOfDescription } from '../../providers/caldav/events/zones.ts'
import { formatObject } from './formatting.ts'
import { describeZone } from './write-vtimezone.ts'

const NEAR = Date.parse('2026-11-20T00:00:00Z')

function described(name: string) {
  const component = describeZone(name, NEAR)
  if (component === undefined) throw new Error(`no zone ${name}`)
  return component
}

describe('describeZone', () => {
  it('describes zones with yearly rules', () => {
    expect(formatObject(described('Europe/Berlin')).split('\r\n')).toEqual([
      'BEGIN:VTIMEZONE',
      'TZID:Europe/Berlin',
      'BEGIN:DAYLIGHT',
      'DTSTART:20250330T020000',
      'TZOFFSETFROM:+0100',
      'TZOFFSETTO:+0200',
      'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU',
      'END:DAYLIGHT',
      'BEGIN:STANDARD',
      'DTSTART:20251026T030000',
      'TZOFFSETFROM:+0200',
      'TZOFFSETTO:+0100',
      'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU',
      'END:STANDARD',
      'END:VTIMEZONE',
      '',
    ])
    expect(described('America/New_York').components.map(({ lines }) => lines.at(-1))).toEqual([
      'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU',
      'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU',
    ])
    expect(described('Asia/Kolkata').components).toHaveLength(1)
    // Ramadan follows the moon.
    expect(described('Asia/Gaza').components.length).toBeGreaterThan(15)
  })

  it.each([
    'Europe/Berlin',
    'America/New_York',
    'Australia/Sydney',
    'Asia/Kolkata',
    'UTC',
    'America/Havana',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'America/Santiago',
    'Africa/Cairo',
  ])('is recognised without its name: %s', (name) => {
    const component = described(name)
    const nameless = { ...component, lines: ['TZID:Our office'] }
    expect(zoneOfDescription(nameless, NEAR)).toBe(name)
  })
})
