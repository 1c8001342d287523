import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { caldavAccess, testCaldav } from '../../../test/kit/calendars/caldav.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../../test/servers/radicale.ts'
import { type IcsEvent, icsObject } from '../../../test/servers/radicale-calendar.ts'
import { cyrusAvailable } from '../../../test/servers/unpacked/cyrus.ts'
import { type CyrusCalendars, startCyrusCalendars } from '../../../test/servers/unpacked/cyrus-calendars.ts'
import { startXandikos, type Xandikos, xandikosAvailable } from '../../../test/servers/xandikos.ts'
import { formatLocal, parseLocal } from '../../platform/calendar/days.ts'
import { type CalendarFixture, calendarConformance, type WrittenEvent } from '../conformance/calendar.ts'
import type { EventInput, EventTime } from '../contract/index.ts'

/** A calendar of a server, and the requests of another program. */
interface Written extends Pick<CalendarFixture, 'calendarId' | 'timeZone' | 'expireCursors' | 'refuse'> {
  url: string
  user: string
  request(method: string, path: string, body?: string): Promise<unknown>
}

/** The user's password is `secret`. */
function openFixture({ url, user, request, calendarId, ...rest }: Written): CalendarFixture {
  const { provider, close } = testCaldav()
  const objects = new Map<string, IcsEvent[]>()
  const newPath = (): string => `${calendarId}${randomUUID()}.ics`
  const put = async (path: string) => {
    const uid = path.split('/').at(-1)?.replace('.ics', '') ?? ''
    await request('PUT', path, icsObject(objects.get(path) ?? [], { uid }))
  }
  return {
    ...rest,
    provider,
    calendarId,
    stop: close,
    access: caldavAccess(url, user, 'secret'),
    async write(event: WrittenEvent, path = newPath()) {
      objects.set(path, [event, ...(objects.get(path) ?? []).slice(1)])
      await put(path)
      return path
    },
    async writeException(path, originalStart, change) {
      const [master] = objects.get(path) ?? []
      if (master === undefined) throw new Error('no master')
      const end = later(originalStart, master)
      const cancelled = { summary: master.summary, start: originalStart, end, lines: ['STATUS:CANCELLED'] }
      const exception = change === 'cancelled' ? cancelled : change
      objects.set(path, [...(objects.get(path) ?? []), { ...exception, originalStart }])
      await put(path)
    },
    async remove(path) {
      await request('DELETE', path)
    },
  }
}

/** The end of an instance that lasts as long as its series. */
function later(start: EventTime, master: IcsEvent): EventTime {
  const times = [start, master.start, master.end].map((time) =>
    'date' in time ? undefined : parseLocal(time.dateTime),
  )
  const [atMs, fromMs, toMs] = times
  if ('date' in start || atMs === undefined || fromMs === undefined || toMs === undefined) throw new Error('no times')
  return { ...start, dateTime: formatLocal(atMs + toMs - fromMs) }
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
    return openFixture({
      url: radicale.url,
      user,
      calendarId,
      timeZone: 'Europe/Berlin',
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
    return openFixture({
      // It stores no zone of a calendar.
      url: xandikos.url,
      user: 'ann',
      calendarId,
      timeZone: null,
      request: xandikos.request,
      expireCursors: () => xandikos.forgetSyncTokens(calendarId),
      async refuse() {
        logins.clear()
      },
    })
  })
})

describe.skipIf(!cyrusAvailable())('CalDAV', () => {
  let server: Promise<CyrusCalendars> | undefined
  afterAll(async () => (await server)?.stop())

  async function calendar() {
    server ??= startCyrusCalendars()
    const cyrus = await server
    const user = `u${randomUUID()}`
    await cyrus.addUser(user, 'secret')
    const zone = `<C:calendar-timezone>${BERLIN}</C:calendar-timezone>`
    const calendarId = await cyrus.makeCalendar(user, 'work', `<D:displayname>Work</D:displayname>${zone}`)
    return { cyrus, user, calendarId }
  }

  calendarConformance('CalDAV on Cyrus', async () => {
    const { cyrus, user, calendarId } = await calendar()
    return openFixture({
      url: cyrus.url,
      user,
      calendarId,
      timeZone: 'Europe/Berlin',
      request: (method, path, body) => cyrus.request(user, method, path, body),
      expireCursors: () => cyrus.forgetSyncTokens(user, calendarId),
      refuse: () => cyrus.setPassword(user, 'another'),
    })
  })

  it('accepts an all-day event without duration, and refuses another one in every form', async () => {
    const { cyrus, user, calendarId } = await calendar()
    const { provider, close } = testCaldav()
    onTestFinished(close)
    const changes = provider.edits?.(caldavAccess(cyrus.url, user, 'secret'))
    const { signal } = new AbortController()
    const create = (time: EventInput['start']) => {
      const event = { ...EVENT, start: time, end: time }
      return changes?.createEvent({ calendarId, key: randomUUID(), event, notify: false, signal })
    }
    expect(await create({ date: '2026-11-20' })).toMatchObject({
      start: { date: '2026-11-20' },
      end: { date: '2026-11-21' },
    })
    const call = create({ dateTime: '2026-11-20T12:00:00', timeZone: 'Europe/Berlin' })
    await expect(call).rejects.toMatchObject({ kind: 'rejected' })
  })
})

const EVENT: Omit<EventInput, 'start' | 'end'> = {
  summary: 'Call',
  description: '',
  location: '',
  recurrence: [],
  busy: true,
  visibility: 'default',
  attendees: [],
  reminders: [],
  conference: false,
}

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
