import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { testCaldav } from '../../../test/kit/calendars/caldav.ts'
import { ALL } from '../../../test/kit/calendars/scripted-calendar.ts'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import {
  type Certificate,
  certificateFor,
  type DavCall,
  type DavReply,
  multistatus,
  startDavServer,
} from '../../../test/servers/dav-server.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { ProviderError } from '../../providers/contract/index.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import { syncCalendars } from './account.ts'
import { failingCalendars } from './failing-calendars.ts'

const HOST = 'example.com'
const CHALLENGE: DavReply = { status: 401, headers: { 'www-authenticate': 'Basic realm="calendars"' } }
const HOME = '<C:calendar-home-set><D:href>/home/</D:href></C:calendar-home-set>'
const CALENDAR = '<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>'
const CALENDARS = ['/home/a/', '/home/b/', '/home/c/']

let certificate: Certificate
beforeAll(async () => {
  certificate = await certificateFor([HOST])
})

/** An account whose CalDAV server was found, not entered. `refuse` says which calendars the server refuses from now on. */
async function foundCalendars(db: Db) {
  let refused: readonly string[] = []
  let reply = CHALLENGE
  const isRefused = ({ line, credentials }: DavCall) =>
    credentials !== undefined && refused.some((path) => line.endsWith(` ${path}`))
  const server = await startDavServer((call) => {
    if (call.credentials === undefined) return CHALLENGE
    if (isRefused(call)) return reply
    if (call.line === 'PROPFIND /dav/') return multistatus({ '/dav/': HOME })
    if (call.line === 'PROPFIND /home/')
      return multistatus(Object.fromEntries(CALENDARS.map((path) => [path, CALENDAR])))
    const path = CALENDARS.find((path) => call.line === `PROPFIND ${path}`)
    return multistatus(path === undefined ? {} : { [path]: '<D:sync-token>t1</D:sync-token>' })
  }, certificate)
  const { provider, close } = testCaldav({
    hosts: { [HOST]: '127.0.0.1' },
    port: server.port,
    ca: certificate.cert,
    records: { srv: async () => [{ host: HOST, port: 443 }], txt: async () => ['path=/dav/'] },
  })
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  const { link, bus } = testAccounts(db)
  const email = `ada@${HOST}`
  const { id: accountId } = await link(imapUser(`${db.engine}-${server.port}`))
  const remote = provider.open({ accountId, email, settings: {}, secrets: { password: 'secret' } })
  const clock = systemClock
  const ids = idGenerator(clock)
  const events = recorder({ catalogue, clock, ids, bus })
  const deps = {
    db,
    clock,
    ids,
    events,
    fence: async () => {},
    sharedFence: async () => {},
    windowMonths: [1, 12] as const,
  }
  const owned = { accountId, epoch: 1, provider: 'imap', remote, signal: new AbortController().signal } as const
  const failing = failingCalendars(deps, { baseMs: 5000, capMs: 5000 })
  return {
    refuse(paths: readonly string[], as = CHALLENGE): void {
      refused = paths
      reply = as
    },
    /** How many requests for refused calendars had the password, since the last call. */
    refusals: () => server.calls.splice(0).filter(isRefused).length,
    /** Returns which calendars were synced and which failed, in this order. */
    async sync(): Promise<{ read: string[]; failed: string[]; error?: ProviderError }> {
      const read: string[] = []
      const failed: string[] = []
      const run = syncCalendars(deps, owned, {
        ...ALL,
        async onSynced(calendar: CalendarRow) {
          read.push(calendar.providerId)
          await failing.recordSuccess(owned, calendar)
        },
        async onFailed(calendar: CalendarRow, error: ProviderError) {
          failed.push(calendar.providerId)
          await failing.recordFailure(owned, calendar, error)
          return true
        },
      })
      return run.then(
        () => ({ read, failed }),
        (error: ProviderError) => ({ read, failed, error }),
      )
    },
    failures: async () =>
      (await calendarStore(db.read).all(accountId)).map(({ providerId, failures }) => `${providerId} ${failures}`),
  }
}

describeOneDatabase('a CalDAV password that is refused when a calendar is read', 'sqlite', (open) => {
  it('is sent once in each run, which then fails', async () => {
    const { refuse, refusals, sync } = await foundCalendars(await open())
    refuse(CALENDARS)
    const refused = { read: [], error: { kind: 'rejected', passwordRefused: true } }
    expect(await sync()).toMatchObject({ ...refused, failed: ['/home/a/'] })
    expect(refusals()).toBe(1)
    expect(await sync()).toMatchObject({ ...refused, failed: ['/home/b/'] })
    expect(refusals()).toBe(1)
  })

  it('is not sent for further calendars, although others were read before', async () => {
    const { refuse, refusals, sync } = await foundCalendars(await open())
    refuse(['/home/b/', '/home/c/'])
    expect(await sync()).toEqual({ read: ['/home/a/'], failed: ['/home/b/'] })
    expect(refusals()).toBe(1)
  })

  it('for one calendar alone keeps the others waiting for one run only', async () => {
    const { refuse, sync, failures } = await foundCalendars(await open())
    refuse(['/home/a/'])
    expect(await sync()).toMatchObject({ read: [], failed: ['/home/a/'], error: { passwordRefused: true } })
    expect(await sync()).toEqual({ read: ['/home/b/', '/home/c/'], failed: ['/home/a/'] })
    expect(await failures()).toEqual(['/home/a/ 2', '/home/b/ 0', '/home/c/ 0'])
    refuse([])
    expect(await sync()).toEqual({ read: ['/home/b/', '/home/c/', '/home/a/'], failed: [] })
    expect(await failures()).toEqual(['/home/a/ 0', '/home/b/ 0', '/home/c/ 0'])
  })

  it('is sent for the others when the server only denies access to one', async () => {
    const { refuse, sync } = await foundCalendars(await open())
    refuse(['/home/a/'], { status: 403 })
    expect(await sync()).toEqual({ read: ['/home/b/', '/home/c/'], failed: ['/home/a/'] })
  })
})
