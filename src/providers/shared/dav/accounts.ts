import { LRUCache } from 'lru-cache'
import type { Log } from '../../../platform/log/index.ts'
import { atMost } from '../../../platform/lru.ts'
import type { DnsRecords } from '../../../platform/net/index.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type CaldavSettings, type MailAccess, type MailSettings, ProviderError } from '../../contract/index.ts'
import { type DavClient, type DavClientOptions, davClient } from './client.ts'
import { candidates, type DavHome, type DavService, domainOf, findHome, probe } from './discovery.ts'
import { resolveUrl } from './hrefs.ts'
import { trustedHosts } from './trusted-hosts.ts'

export interface DavDeps {
  outbound: Outbound
  records: DnsRecords
  clock: Clock
  log: Log
}

/** One account at its server. */
export interface DavAccount<Home> {
  client: DavClient
  /** Null: the account has no such collections. `isKnown`: some are stored, so a server that cannot be found is an error. */
  readHome(signal: AbortSignal, isKnown: boolean): Promise<Home | null>
  /** The server may have moved. */
  forgetHome(): void
}

/** How long the result of a discovery is used. */
const HOME_MS = 60 * 60_000
const MAX_HOMES = 10_000

/** Opens accounts at the servers of one service, and keeps where their collections are. */
export function davAccounts<Home extends object>(deps: DavDeps, service: DavService, toHome: (found: DavHome) => Home) {
  const { clock, records, log } = deps
  const homes = new LRUCache<string, { home: Home | null }>({
    ...atMost(MAX_HOMES),
    ttl: HOME_MS,
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  })

  /** `configured` is the URL that the user entered. Without one, the server has to be found. */
  function openClient(access: MailAccess, limits: Pick<DavClientOptions, 'timeoutMs' | 'maxBytes'> = {}) {
    const { accountId, email, settings, secrets, accessToken } = access
    const { imap } = settings
    const named = namedServer(settings, service)
    const configured = named === undefined ? undefined : resolveUrl(named.url, undefined)
    const trusts = trustedBy(access, configured)
    const client = davClient({
      protocol: service.protocol,
      outbound: deps.outbound,
      clock,
      accountId,
      trusts,
      isSecure: configured?.protocol !== 'http:',
      ...limits,
      credentials:
        accessToken === undefined
          ? {
              username: named?.username ?? imap?.username ?? email,
              password: secrets.caldavPassword ?? secrets.password ?? '',
            }
          : { accessToken },
      refusal: configured === undefined ? 'rejected' : 'auth_expired',
    })
    return { client, configured, trusts }
  }

  /** From the URL that the user entered; where that leads to no home, from a host beside it: `contacts.` beside `caldav.`. */
  async function findConfigured(
    client: DavClient,
    configured: URL,
    { accessToken }: MailAccess,
    signal: AbortSignal,
  ): Promise<DavHome> {
    const found = await findHome(client, configured, service, signal)
    if (found.homes.length > 0) return found
    for (const url of besides(configured, service)) {
      // An access token is for the servers that OAUTH_PROVIDERS names.
      if (accessToken !== undefined && url.origin !== configured.origin) continue
      const reached = await probe(client, url, service, signal).catch(unlessAborted(signal))
      const home = reached && (await findHome(client, reached, service, signal).catch(unlessAborted(signal)))
      if (home !== undefined && home.homes.length > 0) return home
    }
    return found
  }

  function open(access: MailAccess): DavAccount<Home> {
    const { accountId, email } = access
    const { imap, oauth } = access.settings
    const { client, configured, trusts } = openClient(access)
    const homeKey = JSON.stringify([
      accountId,
      email,
      namedServer(access.settings, service),
      imap?.host,
      imap?.username,
      oauth,
    ])

    /** The first candidate that is such a server and accepts the password. */
    async function discover(signal: AbortSignal, isKnown: boolean): Promise<Home | null> {
      // An access token is for the servers that OAUTH_PROVIDERS names.
      if (access.accessToken !== undefined) return null
      let failure: unknown
      const refusing = new Set<string>()
      for (const candidate of await candidates(access, service, { records, log, trusts })) {
        let origin: string | undefined
        try {
          const url = await probe(client, candidate, service, signal)
          if (url === undefined || !trusts(url.hostname) || refusing.has(url.origin)) continue
          origin = url.origin
          const home = await findHome(client, url, service, signal)
          if (home.homes.length > 0) return toHome(home)
        } catch (error) {
          if (signal.aborted || !(error instanceof ProviderError)) throw error
          if (origin !== undefined && error.passwordRefused) refusing.add(origin)
          failure ??= error
          const metadata = { host: candidate.hostname }
          log.debug(`Found no ${service.things} at a host`, { accountId, error, metadata })
        }
      }
      if (isKnown && failure !== undefined) throw failure
      return null
    }

    return {
      client,
      async readHome(signal, isKnown) {
        const cached = homes.get(homeKey)
        if (cached !== undefined && !(cached.home === null && isKnown)) return cached.home
        const home =
          configured === undefined
            ? await discover(signal, isKnown)
            : toHome(await findConfigured(client, configured, access, signal))
        homes.set(homeKey, { home })
        return home
      },
      forgetHome: () => homes.delete(homeKey),
    }
  }

  return { openClient, open }
}

function namedServer({ caldav, carddav }: MailSettings, { protocol }: DavService): CaldavSettings | undefined {
  return protocol === 'CardDAV' ? (carddav ?? caldav) : caldav
}

/** An access token is for the server that OAUTH_PROVIDERS names. A password may go to hosts beside it, too. */
function trustedBy({ email, settings: { imap }, accessToken }: MailAccess, configured: URL | undefined) {
  if (accessToken !== undefined) return (host: string) => host === configured?.hostname
  if (configured !== undefined) return trustedHosts([configured.hostname])
  return trustedHosts(imap === undefined ? [] : [imap.host], domainOf(email))
}

/** At a server for both, the well-known path of this service leads to it; providers with a host for each name both alike. */
function besides(configured: URL, { wellKnown, siblings }: DavService): URL[] {
  const [first = '', ...domain] = configured.hostname.split('.')
  const hosts = domain.length < 2 || siblings.length === 0 ? [] : siblings.map((name) => [name, ...domain].join('.'))
  const others = hosts.filter((host) => host !== configured.hostname && first !== '')
  const own = siblings.length === 0 ? [] : [new URL(wellKnown, configured)]
  return [...own, ...others.flatMap((host) => resolveUrl(`https://${host}${wellKnown}`, undefined) ?? [])]
}

/** The next host may be the right one. */
function unlessAborted(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (signal.aborted || !(error instanceof ProviderError)) throw error
    return undefined
  }
}
