import { randomUUID } from 'node:crypto'
import { afterAll, describe } from 'vitest'
import { caldavAccess, testCaldav } from '../../../test/kit/caldav.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../../test/servers/radicale.ts'
import { type IcsEvent, icsObject } from '../../../test/servers/radicale-calendar.ts'
import { calendarConformance, type WrittenEvent } from '../contract/calendar-conformance.ts'

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
    const { provider, close } = testCaldav()
    const objects = new Map<string, IcsEvent[]>()
    const newPath = (): string => `${calendarId}${randomUUID()}.ics`
    const put = async (path: string) => {
      const uid = path.split('/').at(-1)?.replace('.ics', '') ?? ''
      await radicale.request(user, 'PUT', path, icsObject(objects.get(path) ?? [], { uid }))
    }
    return {
      provider,
      access: caldavAccess(radicale.url, user, 'secret'),
      calendarId,
      timeZone: 'Europe/Berlin',
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
        await radicale.request(user, 'DELETE', path)
      },
      expireCursors: () => radicale.forgetSyncTokens(calendarId),
      refuse: () => radicale.removeUser(user),
      stop: close,
    }
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
