import { domainToASCII } from 'node:url'
import { LRUCache } from 'lru-cache'
import { replaceFailure } from '../../../platform/errors/programming-errors.ts'
import { MAIL_PORTS } from '../../../platform/formats/mail-ports.ts'
import { atMost } from '../../../platform/lru.ts'
import type { DnsRecords } from '../../../platform/net/index.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { autoconfigServer, type ProposedServer } from './autoconfig.ts'
import { domainOf, knownServer, providerOfDomain } from './known-servers.ts'

export interface DetectionDeps {
  records: DnsRecords
  outbound: Outbound
  clock: Clock
  /** Servers by domain that are known without a search. */
  mailServers?: ReadonlyMap<string, ProposedServer> | undefined
}

/** Finds the provider and the mail server of an address. Never throws: the user can enter what was not found. */
export interface Detection {
  /** By the domain, else by its MX records; takes at most 2 s. */
  detectProvider(email: string): Promise<ProviderName>
  /** The hosts of the MX records of its domain, in lower case; takes at most 2 s. Empty when there are none. */
  findMxHosts(email: string): Promise<readonly string[]>
  /** The IMAP server that a domain publishes, or that its MX records imply; takes at most 6 s. Undefined for domains in the built-in table. */
  findServer(email: string): Promise<ProposedServer | undefined>
}

const MAX_DOMAINS = 2000
const FOUND_TTL_MS = 600_000
const NOT_FOUND_TTL_MS = 60_000
const GMAIL_HOST = 'imap.gmail.com'
const GOOGLE_MX = /(^|\.)google(mail)?\.com$/
const MICROSOFT_MX = /\.(protection\.outlook\.com|mx\.microsoft|protection\.office365\.us|partner\.outlook\.cn)$/
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})?(\.[a-z0-9]([a-z0-9-]{0,62})?)+$/
/** Reserved names (RFC 6761, RFC 6762) and IP addresses. Looking them up would only leak them. */
const NOT_PUBLIC = /((^|\.)example\.(com|net|org)|\.(test|example|invalid|localhost|local|internal|onion)|\.\d+)$/

export function detection({ records, outbound, clock, mailServers }: DetectionDeps): Detection {
  const cache = <T extends {}>() =>
    new LRUCache<string, Promise<T>>({
      ...atMost(MAX_DOMAINS),
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    })
  const exchangers = cache<readonly string[]>()
  const servers = cache<{ server: ProposedServer | undefined }>()

  async function findMxHosts(email: string): Promise<readonly string[]> {
    const domain = publicDomain(email)
    if (domain === undefined) return []
    const search = async () => (await records.mx(domain)).map((host) => host.toLowerCase().replace(/\.$/, ''))
    return cached(
      exchangers,
      domain,
      () => search().catch(replaceFailure([])),
      (found) => found.length > 0,
    )
  }

  async function providerByMx(email: string): Promise<ProviderName> {
    const hosts = await findMxHosts(email)
    if (hosts.some((host) => GOOGLE_MX.test(host))) return 'gmail'
    return hosts.some((host) => MICROSOFT_MX.test(host)) ? 'microsoft' : 'imap'
  }

  /** SRV records (RFC 6186). Implicit TLS is preferred (RFC 8314). */
  async function serverBySrv(domain: string): Promise<ProposedServer | undefined> {
    const [imaps, imap] = await Promise.all(
      ['_imaps', '_imap'].map((service) => records.srv(`${service}._tcp.${domain}`).catch(replaceFailure([]))),
    )
    if (imaps?.[0] !== undefined) return { ...imaps[0], secure: true }
    return imap?.[0] && { ...imap[0], secure: imap[0].port === MAIL_PORTS.imaps }
  }

  /** Google Workspace domains rarely publish anything else. */
  async function serverByMx(email: string): Promise<ProposedServer | undefined> {
    const provider = await detectProvider(email)
    return provider === 'gmail' ? { host: GMAIL_HOST, port: MAIL_PORTS.imaps, secure: true } : undefined
  }

  async function detectProvider(email: string): Promise<ProviderName> {
    const provider = providerOfDomain(email)
    const domain = publicDomain(email)
    if (provider !== 'imap' || domain === undefined || knownServer(email) !== undefined) return provider
    return providerByMx(email)
  }

  async function lookUpServer(email: string, domain: string) {
    const [configured, published] = await Promise.all([autoconfigServer(outbound, email, domain), serverBySrv(domain)])
    return { server: configured ?? published ?? (await serverByMx(email)) }
  }

  return {
    detectProvider,
    findMxHosts,

    async findServer(email) {
      const named = mailServers?.get(domainOf(email))
      if (named !== undefined) return named
      const domain = publicDomain(email)
      if (domain === undefined || knownServer(email) !== undefined) return undefined
      // Keyed by address, because the configuration may contain a username.
      const search = () => lookUpServer(email, domain)
      const { server } = await cached(servers, email.toLowerCase(), search, (found) => found.server !== undefined)
      return server
    },
  }
}

/** Concurrent callers share one search. A result is cached longer than its absence, a failure not at all. */
function cached<T extends {}>(
  cache: LRUCache<string, Promise<T>>,
  key: string,
  search: () => Promise<T>,
  isFound: (value: T) => boolean,
): Promise<T> {
  const hit = cache.get(key)
  if (hit !== undefined) return hit
  const searching = search()
  cache.set(key, searching)
  searching.then(
    (value) => cache.set(key, searching, { ttl: isFound(value) ? FOUND_TTL_MS : NOT_FOUND_TTL_MS }),
    () => cache.delete(key),
  )
  return searching
}

/** The domain in ASCII, if public DNS can know it. */
function publicDomain(email: string): string | undefined {
  const ascii = domainToASCII(domainOf(email)).replace(/\.$/, '')
  return DOMAIN.test(ascii) && !NOT_PUBLIC.test(ascii) ? ascii : undefined
}
