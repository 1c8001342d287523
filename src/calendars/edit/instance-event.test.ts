import { expect, it } from 'vitest'
import { buildIcs } from '../../../test/calendars/odd-events/odd-event.ts'
import { mapEvents } from '../../providers/caldav/events/map.ts'
import { ObjectZones } from '../../providers/caldav/events/zones.ts'
import { instanceEvent } from './target.ts'

const SERIES = ['DTSTART;TZID=Europe/Berlin:20270602T100000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=6']
const MOVED = [
  'RECURRENCE-ID;RANGE=THISANDFUTURE:20270616T080000Z',
  'DTSTART;TZID=Europe/Berlin:20270617T140000',
  'DURATION:PT2H',
]
const ENDED = ['RECURRENCE-ID;RANGE=THISANDFUTURE:20270630T080000Z', 'DTSTART:20270630T080000Z', 'STATUS:CANCELLED']

async function instance(original: string, ...events: string[][]) {
  const context = { zones: new ObjectZones(), addresses: new Set<string>() }
  const [master] = await mapEvents({ path: '/c/1.ics', etag: null, text: buildIcs(...events) }, context)
  if (master === undefined) throw new Error('There is no series.')
  const found = instanceEvent(master, original, 'Europe/Berlin')
  return found && { start: found.start, end: found.end, originalStart: found.originalStart }
}

const at = (dateTime: string) => ({ dateTime, timeZone: 'Europe/Berlin' })

it('takes place where its series was moved, under its original start', async () => {
  const [before, behind] = [
    await instance('20270609T080000Z', SERIES, MOVED, ENDED),
    await instance('20270623T080000Z', SERIES, MOVED, ENDED),
  ]
  expect(before).toEqual({
    start: at('2027-06-09T10:00:00'),
    end: at('2027-06-09T11:00:00'),
    originalStart: at('2027-06-09T10:00:00'),
  })
  expect(behind).toEqual({
    start: at('2027-06-24T14:00:00'),
    end: at('2027-06-24T16:00:00'),
    originalStart: at('2027-06-23T10:00:00'),
  })
})

it('is none after its series was cancelled, or at another time', async () => {
  expect(await instance('20270630T080000Z', SERIES, MOVED, ENDED)).toBeUndefined()
  expect(await instance('20270624T120000Z', SERIES, MOVED, ENDED)).toBeUndefined()
})

it('of an all-day series has days', async () => {
  const days = ['DTSTART;VALUE=DATE:20270328', 'DTEND;VALUE=DATE:20270330', 'RRULE:FREQ=WEEKLY;COUNT=3']
  expect(await instance('20270404', days)).toEqual({
    start: { date: '2027-04-04' },
    end: { date: '2027-04-06' },
    originalStart: { date: '2027-04-04' },
  })
})
