import { randomUUID } from 'node:crypto'
import { newCalendar, requestDav } from '../dav-requests.ts'
import { otherClient } from '../imap-mailbox.ts'
import { icsObject } from '../radicale-calendar.ts'
import { startCyrus } from './cyrus.ts'

/** Cyrus as a CalDAV server. Stops with `stop()` or with this process. */
export interface CyrusCalendars {
  readonly url: string
  /** The name has no `@`. */
  addUser(name: string, password: string): Promise<void>
  setPassword(name: string, password: string): Promise<void>
  /** Any request of the user's own client; throws for an error status. Returns the body. */
  request(user: string, method: string, path: string, body?: string): Promise<string>
  /** Returns the path of the new calendar. `properties` are elements of `D:prop`. */
  makeCalendar(user: string, name: string, properties: string): Promise<string>
  /** Makes every sync token of the calendar too old: it forgets the objects that were deleted. */
  forgetSyncTokens(user: string, calendar: string): Promise<void>
  stop(): Promise<void>
}

export async function startCyrusCalendars(): Promise<CyrusCalendars> {
  const cyrus = await startCyrus({ hasCalendars: true })
  const passwords = new Map<string, string>()
  const origin = `http://${cyrus.host}:${cyrus.httpPort}`

  async function setPassword(name: string, password: string) {
    await cyrus.setPassword(name, password)
    passwords.set(name, password)
  }

  function request(user: string, method: string, path: string, body?: string): Promise<string> {
    const login = { user, password: passwords.get(user) ?? '' }
    return requestDav(origin + path, { method, body, login })
  }

  return {
    url: `${origin}/dav/`,
    setPassword,
    request,
    async addUser(name, password) {
      await setPassword(name, password)
      // The first login creates the mailbox, which has the calendars.
      await otherClient(cyrus, name, password, async () => {})
    },
    async makeCalendar(user, name, properties) {
      const path = `/dav/calendars/user/${user}/${name}/`
      await request(user, 'MKCALENDAR', path, newCalendar(properties))
      return path
    },
    async forgetSyncTokens(user, calendar) {
      const path = `${calendar}${randomUUID()}.ics`
      const event = { summary: 'Deleted', start: { date: '2020-01-01' }, end: { date: '2020-01-02' } }
      await request(user, 'PUT', path, icsObject([event]))
      await request(user, 'DELETE', path)
      await cyrus.run('cyr_expire', '-X', '0', '-u', user)
    },
    stop: () => cyrus.stop(),
  }
}
