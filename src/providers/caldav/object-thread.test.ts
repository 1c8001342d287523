import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { ObjectZones } from './events/zones.ts'
import { parseParts, type ResponsePart } from './object-batch.ts'
import { ObjectThread } from './object-thread.ts'

const ZONE = [
  'BEGIN:VTIMEZONE',
  'TZID:Office time',
  'BEGIN:STANDARD',
  'DTSTART:19700101T000000',
  'TZOFFSETFROM:+0900',
  'TZOFFSETTO:+0900',
  'END:STANDARD',
  'END:VTIMEZONE',
]

function buildObject(index: number): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...ZONE,
    'BEGIN:VEVENT',
    `UID:${index}`,
    'DTSTAMP:20260101T000000Z',
    'DTSTART;TZID=Office time:20260105T090000',
    'DTEND;TZID=Office time:20260105T100000',
    `SUMMARY:Event ${index}`,
    'ATTENDEE;PARTSTAT=ACCEPTED:mailto:ada@example.org',
    `DESCRIPTION:${'long '.repeat(60)}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]
  return `<response><href>/calendars/${index}.ics</href><propstat><prop><getetag>"${index}"</getetag>
    <C:calendar-data>${lines.join('\r\n')}</C:calendar-data></prop></propstat></response>`
}

function requestFor(responses: string, count: number) {
  const xml = `<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">${responses}</multistatus>`
  const paths = Array.from({ length: count }, (_, index) => `/calendars/${index}.ics`)
  return {
    body: Buffer.from(xml),
    base: 'https://dav.example/calendars/',
    collection: 'https://dav.example/calendars/',
    paths,
    addresses: ['ada@example.org'],
    doing: 'reading events',
    calendar: 'acc_1 /calendars/',
  }
}

async function together(parts: AsyncIterable<ResponsePart>) {
  const all: ResponsePart[] = []
  for await (const part of parts) all.push(part)
  return {
    count: all.length,
    events: all.flatMap(({ events }) => events),
    complete: all.flatMap(({ complete }) => complete),
    unanswered: all.flatMap(({ unanswered }) => unanswered),
  }
}

it('maps a large response in the thread as it does a small one here, in parts', async () => {
  const thread = closing(new ObjectThread())
  const request = requestFor(Array.from({ length: 700 }, (_, index) => buildObject(index)).join(''), 701)
  expect(request.body.length).toBeGreaterThan(64 * 1024)
  const read = await together(thread.parseParts(request, new ObjectZones()))
  expect(read).toEqual(await together(parseParts(request, new ObjectZones())))
  expect([read.events.length, read.complete.length, read.unanswered]).toEqual([700, 700, ['/calendars/700.ics']])
  expect(read.events[7]).toMatchObject({ summary: 'Event 7', start: { timeZone: 'Asia/Tokyo' } })
  expect(read.count).toBe(3)
})

it('reports a document that no server sends, and the end of the thread', async () => {
  const thread = new ObjectThread()
  const deep = requestFor(`${'<a>'.repeat(30)}${'x'.repeat(70_000)}`, 1)
  await expect(together(thread.parseParts(deep, new ObjectZones()))).rejects.toMatchObject({ kind: 'limit_exceeded' })
  await thread.close()
  await expect(together(thread.parseParts(deep, new ObjectZones()))).rejects.toMatchObject({ kind: 'unavailable' })
})
