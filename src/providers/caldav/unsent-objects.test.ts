import { expect, it } from 'vitest'
import { scriptedDavCalendar } from '../../../test/kit/calendars/scripted-dav-calendar.ts'
import { type DavReply, multistatus } from '../../../test/servers/dav-server.ts'
import type { CalendarChanges } from '../contract/index.ts'

const { signal } = new AbortController()
const TARGET = { calendarId: '/home/c/', eventId: '/home/c/1.ics', instance: null }
const CHANGE = { ...TARGET, changes: { summary: 'x' }, etag: null, notify: false, signal }
const refusedText = (status: number) =>
  `<D:propstat><D:prop><C:calendar-data/></D:prop><D:status>HTTP/1.1 ${status} x</D:status></D:propstat>`

async function changesOf(reply: DavReply): Promise<CalendarChanges> {
  const { changes } = await scriptedDavCalendar(({ body }) => (body.includes('calendar-multiget') ? reply : undefined))
  return changes
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
  const changes = await changesOf(reply)
  await expect(changes.getEvent(TARGET, signal)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(changes.updateEvent(CHANGE)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(changes.deleteEvent({ ...TARGET, notify: false, signal })).rejects.toMatchObject({ kind: 'unavailable' })
})

it.each<[string, DavReply]>([
  ['404', multistatus({ '/home/c/1.ics': 404 })],
  ['410', multistatus({ '/home/c/1.ics': 410 })],
  ['404 for its text', multistatus({}, `<D:response><D:href>/home/c/1.ics</D:href>${refusedText(404)}</D:response>`)],
])('takes an object for missing when the server says so: %s', async (_, reply) => {
  const changes = await changesOf(reply)
  await expect(changes.getEvent(TARGET, signal)).rejects.toMatchObject({ kind: 'not_found' })
  await expect(changes.updateEvent(CHANGE)).rejects.toMatchObject({ kind: 'not_found' })
  await changes.deleteEvent({ ...TARGET, notify: false, signal })
})
