/**
 * Calendars over CalDAV, for imap accounts: discovery (RFC 6764), sync tokens (RFC 6578), objects as iCalendar (RFC 5545). Every
 * request passes the address guard, every response is bounded. Knows no database and no routes.
 */
import {
  type CalendarAccount,
  type CalendarProvider,
  type MailAccess,
  ProviderError,
  type ServerCheck,
} from '../contract/index.ts'
import { type DavAccount, type DavDeps, davAccounts, findHome } from '../shared/dav/index.ts'
import { listCalendars } from './calendars.ts'
import { type Collection, collectionUrl, type ServerTraits } from './collection.ts'
import { caldavCalendarEdits } from './edits.ts'
import { ObjectZones } from './events/zones.ts'
import { CALDAV, type CalendarHome, toCalendarHome } from './home.ts'
import { ObjectThread } from './object-thread.ts'
import { readRange } from './range.ts'
import { syncEvents } from './sync.ts'

interface CaldavDeps extends DavDeps {
  /** Limits one request of `verify`. Tests make it small. */
  verifyMs?: number
  /** Events that `readRange` returns at most. */
  maxEvents?: number
}

const MAX_EVENTS = 10_000
/** Where the calendars of an account are, and what need not be found out again. */
interface KnownHome extends CalendarHome {
  server: ServerTraits
}

/** `close`: ends its worker thread, twice safely. */
export function caldavProvider(deps: CaldavDeps): CalendarProvider & ServerCheck & { close(): Promise<void> } {
  const thread = new ObjectThread()
  const accounts = davAccounts<KnownHome>(deps, CALDAV, (found) => ({
    ...toCalendarHome(found),
    server: { expandsSeries: false, onlyLists: false },
  }))
  return {
    open: (access) => openAccount(deps, openAccess(thread, accounts.open(access), access)),
    edits: (access) => {
      const { getCollection } = openAccess(thread, accounts.open(access), access)
      return caldavCalendarEdits({ getCollection, email: access.email, now: deps.clock.now })
    },
    async verify(access, signal) {
      const { client, configured } = accounts.openClient(access, {
        timeoutMs: deps.verifyMs ?? VERIFY_MS,
        maxBytes: VERIFY_BYTES,
      })
      if (configured === undefined) return
      const { homes: found } = await findHome(client, configured, CALDAV, signal)
      if (found.length === 0) throw new ProviderError('not_found', 'looking for the calendars: none at this URL')
    },
    close: () => thread.close(),
  }
}

/** Any visitor of the hosted form names the server. */
const VERIFY_MS = 8000
const VERIFY_BYTES = 1024 * 1024

/** One account at its server. */
interface OpenAccess extends DavAccount<KnownHome> {
  /** Throws `not_found` for what cannot be a calendar of the account. */
  getCollection(calendarId: string, signal: AbortSignal): Promise<Collection>
}

function openAccess(
  thread: ObjectThread,
  account: DavAccount<KnownHome>,
  { accountId, email }: MailAccess,
): OpenAccess {
  const { client, readHome } = account

  async function getCollection(calendarId: string, signal: AbortSignal): Promise<Collection> {
    const home = await readHome(signal, true)
    const base = home?.homes[0]
    if (home === null || base === undefined) {
      throw new ProviderError('not_found', 'reading the calendar: the account has no calendars')
    }
    const addresses = new Set([email.toLowerCase(), ...home.addresses])
    const context = { zones: new ObjectZones(), addresses }
    return { accountId, client, thread, url: collectionUrl(calendarId, base), context, server: home.server, signal }
  }

  return { ...account, getCollection }
}

function openAccount(
  { clock, maxEvents = MAX_EVENTS }: CaldavDeps,
  { client, readHome, forgetHome, getCollection }: OpenAccess,
): CalendarAccount {
  return {
    async listCalendars(signal, isKnown = false) {
      const home = await readHome(signal, isKnown)
      try {
        return home === null ? [] : await listCalendars(client, home, { nowMs: clock.now(), signal })
      } catch (error) {
        // The server may have moved.
        forgetHome()
        throw error
      }
    },
    async *syncEvents({ calendarId, cursor, window, signal }) {
      const request = { cursor, from: window.from, nowMs: clock.now() }
      yield* syncEvents(await getCollection(calendarId, signal), request)
    },
    async readRange({ calendarId, range, signal }) {
      return readRange(await getCollection(calendarId, signal), range, maxEvents)
    },
  }
}
