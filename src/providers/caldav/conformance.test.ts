import { randomUUID } from 'node:crypto'
import { afterAll, describe } from 'vitest'
import { caldavAccess, testCaldav } from '../../../test/kit/caldav.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../../test/servers/radicale.ts'
import { type IcsEvent, icsObject } from '../../../test/servers/radicale-calendar.ts'
import { startXandikos, type Xandikos, xandikosAvailable } from '../../../test/servers/xandikos.ts'
import { type CalendarFixture, calendarConformance, type WrittenEvent } from '../contract/calendar-conformance.ts'

/** A calendar of a server, and the requests of another program. */
interface Written extends Pick<CalendarFixture, 'calendarId' | 'timeZone' | 'expireCursors' | 'refuse'> {
  url: string
  user: string
  request(method: string, path: string, body?: string): Promise<unknown>
}

/** The user's password is `secret`. */
function fixtureOf({ url, user, request, calendarId, ...rest }: Written): CalendarFixture {
  const { provider, close } = testCaldav()
  const objects = new Map<string, IcsEvent[]>()
  const newPath = (): string => `${calendarId}${randomUUID()}.ics`
  const put = async (path: string) => {
    const uid = path.split('/').at(-1)?.replace('.ics', '') ?? ''
    await request('PUT', path, icsObject(objects.get(path) ?? [], { uid }))
  }
  return {
    ...{ ...rest, provider, calendarId, stop: close },
    access: caldavAccess(url, user, 'secret'),
    async write(event: WrittenEvent, path = newPath()) {
      objects.set(path, [event, ...(objects.get(path) ?? []).slice(1)])
      await put(path)
      return path
    },
    async writeException(path, originalStart, change) {
      const [master] = objects.get(path) ?? []
      if (master === undefined) throw new Error('no master')
      const cancelled = {
        summary: master.summary,
        start: originalStart,
        end: originalStart,
        lines: ['STATUS:CANCELLED'],
      }
      const exception = change === 'cancelled' ? cancelled : change
      objects.set(path, [...(objects.get(path) ?? []), { ...exception, originalStart }])
      await put(path)
    },
    async remove(path) {
      await request('DELETE', path)
    },
  }
}

describe.skipIf(!radicaleAvailable())('CalDAV', () => {
  let server: Promise<Radicale> | undefined
  afterAll(async () => (await server)?.stop())

  calendarConformance('CalDAV on Radicale', async () => {
    server ??= startRadicale()
    const radicale = await server
    const user = `${randomUUID()}@example.com`
    await radicale.addUser(user, 'secret')
    const calendarId = await radicale.makeCalendar(
      user,
      'work',
      `<D:displayname>Work</D:displayname><C:calendar-timezone>${BERLIN}</C:calendar-timezone>`,
    )
    return fixtureOf({
      ...{ url: radicale.url, user, calendarId, timeZone: 'Europe/Berlin' },
      request: (method, path, body) => radicale.request(user, method, path, body),
      expireCursors: () => radicale.forgetSyncTokens(calendarId),
      refuse: () => radicale.removeUser(user),
    })
  })
})

describe.skipIf(!xandikosAvailable())('CalDAV', () => {
  let server: Promise<Xandikos> | undefined
  afterAll(async () => (await server)?.stop())

  calendarConformance('CalDAV on Xandikos', async () => {
    server ??= startXandikos()
    const xandikos = await server
    const logins = new Map([['ann', 'secret']])
    xandikos.proxy.requireLogin(logins)
    const calendarId = await xandikos.makeCalendar(`work-${randomUUID()}`)
    return fixtureOf({
      // It stores no zone of a calendar.
      ...{ url: xandikos.url, user: 'ann', calendarId, timeZone: null },
      request: xandikos.request,
      expireCursors: () => xandikos.forgetSyncTokens(calendarId),
      async refuse() {
        logins.clear()
      },
    })
  })
})

const BERLIN = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'BEGIN:VTIMEZONE',
  'TZID:Europe/Berlin',
  'BEGIN:STANDARD',
  'DTSTART:16010101T000000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0100',
  'END:STANDARD',
  'END:VTIMEZONE',
  'END:VCALENDAR',
].join('\r\n')
