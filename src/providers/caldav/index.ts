/**
 * Calendars over CalDAV, for imap accounts: discovery (RFC 6764), sync tokens (RFC 6578), objects as iCalendar (RFC 5545). Every
 * request passes the address guard, every response is bounded. Knows no database and no routes.
 */
import { LRUCache } from 'lru-cache'
import type { Log } from '../../platform/log/index.ts'
import { atMost } from '../../platform/lru.ts'
import type { DnsRecords } from '../../platform/net/index.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type CalendarAccount,
  type CalendarProvider,
  type MailAccess,
  ProviderError,
  type ServerCheck,
} from '../contract/index.ts'
import { listCalendars } from './calendars.ts'
import { type Collection, collectionUrl, type ServerTraits } from './collection.ts'
import { caldavCalendarEdits } from './edits.ts'
import { ObjectZones } from './events/zones.ts'
import { type DavClient, type DavClientOptions, davClient } from './http/client.ts'
import { type CalendarHome, candidates, domainOf, findHome, probe } from './http/discovery.ts'
import { resolveUrl } from './http/hrefs.ts'
import { trustedHosts } from './http/trust.ts'
import { ObjectThread } from './object-thread.ts'
import { readRange } from './range.ts'
import { syncEvents } from './sync.ts'

export interface CaldavDeps {
  outbound: Outbound
  records: DnsRecords
  clock: Clock
  log: Log
  /** Limits one request of `verify`. Tests make it small. */
  verifyMs?: number
  /** Events that `readRange` returns at most. */
  maxEvents?: number
}

const MAX_EVENTS = 10_000
/** How long the result of a discovery is used. */
const HOME_MS = 60 * 60_000
const MAX_HOMES = 10_000

/** Null: the account has no calendars. */
type FoundHome = CalendarHome | null

interface KnownHome {
  home: FoundHome
  server: ServerTraits
}

/** `close`: ends its worker thread, twice safely. */
export function caldavProvider(deps: CaldavDeps): CalendarProvider & ServerCheck & { close(): Promise<void> } {
  const thread = new ObjectThread()
  const homes = new LRUCache<string, KnownHome>({
    ...atMost(MAX_HOMES),
    ttl: HOME_MS,
    ttlResolution: 0,
    perf: { now: () => deps.clock.monotonic() },
  })
  return {
    open: (access) => openAccount(deps, openAccess({ ...deps, thread }, homes, access)),
    edits: (access) => {
      const { getCollection } = openAccess({ ...deps, thread }, homes, access)
      return caldavCalendarEdits({ getCollection, email: access.email, now: deps.clock.now })
    },
    async verify(access, signal) {
      const { client, configured } = openClient(deps, access, {
        timeoutMs: deps.verifyMs ?? VERIFY_MS,
        maxBytes: VERIFY_BYTES,
      })
      if (configured === undefined) return
      const { homes: found } = await findHome(client, configured, signal)
      if (found.length === 0) throw new ProviderError('not_found', 'looking for the calendars: none at this URL')
    },
    close: () => thread.close(),
  }
}

/** Any visitor of the hosted form names the server. */
const VERIFY_MS = 8000
const VERIFY_BYTES = 1024 * 1024

/** `configured` is the URL that the user entered. Without one, the server has to be found. */
function openClient(
  { outbound, clock }: CaldavDeps,
  { accountId, email, settings: { caldav, imap }, secrets, accessToken }: MailAccess,
  limits: Pick<DavClientOptions, 'timeoutMs' | 'maxBytes'> = {},
) {
  const configured = caldav === undefined ? undefined : resolveUrl(caldav.url, undefined)
  const trusts =
    configured === undefined
      ? trustedHosts(imap === undefined ? [] : [imap.host], domainOf(email))
      : trustedHosts([configured.hostname])
  const client = davClient({
    outbound,
    clock,
    accountId,
    trusts,
    ...limits,
    credentials:
      accessToken === undefined
        ? {
            username: caldav?.username ?? imap?.username ?? email,
            password: secrets.caldavPassword ?? secrets.password ?? '',
          }
        : { accessToken },
    refusal: configured === undefined ? 'rejected' : 'auth_expired',
  })
  return { client, configured, trusts }
}

/** One account at its server. */
interface OpenAccess {
  client: DavClient
  readHome(signal: AbortSignal, isKnown: boolean): Promise<KnownHome>
  forgetHome(): void
  /** Throws `not_found` for what cannot be a calendar of the account. */
  getCollection(calendarId: string, signal: AbortSignal): Promise<Collection>
}

function openAccess(
  deps: CaldavDeps & { thread: ObjectThread },
  homes: LRUCache<string, KnownHome>,
  access: MailAccess,
): OpenAccess {
  const { records, log, thread } = deps
  const { accountId, email } = access
  const { caldav, imap, oauth } = access.settings
  const { client, configured, trusts } = openClient(deps, access)
  const homeKey = JSON.stringify([accountId, email, caldav, imap?.host, imap?.username, oauth])

  async function readHome(signal: AbortSignal, isKnown: boolean): Promise<KnownHome> {
    const cached = homes.get(homeKey)
    if (cached !== undefined && !(cached.home === null && isKnown)) return cached
    const home = configured === undefined ? await discover(signal, isKnown) : await findHome(client, configured, signal)
    const found = { home, server: { expandsSeries: false, onlyLists: false } }
    homes.set(homeKey, found)
    return found
  }

  /** The first candidate that is a CalDAV server and accepts the password. */
  async function discover(signal: AbortSignal, isKnown: boolean): Promise<FoundHome> {
    // An access token is for the servers that OAUTH_PROVIDERS names.
    if (access.accessToken !== undefined) return null
    let failure: unknown
    const refusing = new Set<string>()
    for (const candidate of await candidates(access, { records, log, trusts })) {
      let origin: string | undefined
      try {
        const url = await probe(client, candidate, signal)
        if (url === undefined || !trusts(url.hostname) || refusing.has(url.origin)) continue
        origin = url.origin
        const home = await findHome(client, url, signal)
        if (home.homes.length > 0) return home
      } catch (error) {
        if (signal.aborted || !(error instanceof ProviderError)) throw error
        if (origin !== undefined && error.passwordRefused) refusing.add(origin)
        failure ??= error
        log.debug('Found no calendars at a host', { accountId, error, metadata: { host: candidate.hostname } })
      }
    }
    if (isKnown && failure !== undefined) throw failure
    return null
  }

  async function getCollection(calendarId: string, signal: AbortSignal): Promise<Collection> {
    const { home, server } = await readHome(signal, true)
    const base = home?.homes[0]
    if (home === null || base === undefined) {
      throw new ProviderError('not_found', 'reading the calendar: the account has no calendars')
    }
    const addresses = new Set([email.toLowerCase(), ...home.addresses])
    const context = { zones: new ObjectZones(), addresses }
    return { accountId, client, thread, url: collectionUrl(calendarId, base), context, server, signal }
  }

  return { client, readHome, forgetHome: () => homes.delete(homeKey), getCollection }
}

function openAccount(
  { clock, maxEvents = MAX_EVENTS }: CaldavDeps,
  { client, readHome, forgetHome, getCollection }: OpenAccess,
): CalendarAccount {
  return {
    async listCalendars(signal, isKnown = false) {
      const { home } = await readHome(signal, isKnown)
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
