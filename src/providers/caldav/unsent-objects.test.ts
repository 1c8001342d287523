import { expect, it } from 'vitest'
import { scriptedDavCalendar } from '../../../test/kit/calendars/scripted-dav-calendar.ts'
import { type DavReply, multistatus } from '../../../test/servers/dav-server.ts'
import type { CalendarEdits } from '../contract/index.ts'

const { signal } = new AbortController()
const TARGET = { calendarId: '/home/c/', eventId: '/home/c/1.ics', instance: null }
const CHANGE = { ...TARGET, changes: { summary: 'x' }, etag: null, notify: false, signal }
const refusedText = (status: number) =>
  `<D:propstat><D:prop><C:calendar-data/></D:prop><D:status>HTTP/1.1 ${status} x</D:status></D:propstat>`

async function openEdits(reply: DavReply): Promise<CalendarEdits> {
  const { edits } = await scriptedDavCalendar(({ body }) => (body.includes('calendar-multiget') ? reply : undefined))
  return edits
}

it.each<[string, DavReply]>([
  ['fails to read it', multistatus({ '/home/c/1.ics': 500 })],
  ['refuses it', multistatus({ '/home/c/1.ics': 403 })],
  [
    'fails to read its text',
    multistatus({}, `<D:response><D:href>/home/c/1.ics</D:href>${refusedText(500)}</D:response>`),
  ],
  ['leaves it out', multistatus({})],
])('takes no object for missing when the server %s', async (_, reply) => {
  const edits = await openEdits(reply)
  await expect(edits.getEvent(TARGET, signal)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(edits.updateEvent(CHANGE)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(edits.deleteEvent({ ...TARGET, notify: false, signal })).rejects.toMatchObject({ kind: 'unavailable' })
})

it.each<[string, DavReply]>([
  ['404', multistatus({ '/home/c/1.ics': 404 })],
  ['410', multistatus({ '/home/c/1.ics': 410 })],
  ['404 for its text', multistatus({}, `<D:response><D:href>/home/c/1.ics</D:href>${refusedText(404)}</D:response>`)],
])('takes an object for missing when the server says so: %s', async (_, reply) => {
  const edits = await openEdits(reply)
  await expect(edits.getEvent(TARGET, signal)).rejects.toMatchObject({ kind: 'not_found' })
  await expect(edits.updateEvent(CHANGE)).rejects.toMatchObject({ kind: 'not_found' })
  await edits.deleteEvent({ ...TARGET, notify: false, signal })
})
