import { domainToASCII } from 'node:url'
import { LRUCache } from 'lru-cache'
import type { Outbound } from '../../../infra/http/index.ts'
import type { DnsRecords } from '../../../infra/net/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { autoconfigServer, type ProposedServer } from './autoconfig.ts'
import { detectedProvider, knownServer } from './known-servers.ts'

export interface DetectionDeps {
  records: DnsRecords
  outbound: Outbound
  clock: Clock
}

/** What an address tells. Nothing here throws: what cannot be found out is typed in. */
export interface Detection {
  /** By its domain, else by where its mail is brought; within 2 s. */
  providerOf(email: string): Promise<ProviderName>
  /** The IMAP server that the domain names, for domains that are not known here; within 4 s. */
  serverOf(email: string): Promise<ProposedServer | undefined>
}

const MAX_DOMAINS = 2000
const FOUND_MS = 600_000
const NOTHING_MS = 60_000
const IMAPS_PORT = 993
const GOOGLE = /(^|\.)google(mail)?\.com$/
const MICROSOFT = /\.(protection\.outlook\.com|mx\.microsoft|protection\.office365\.us|partner\.outlook\.cn)$/
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})?(\.[a-z0-9]([a-z0-9-]{0,62})?)+$/
/** Names that no name server outside knows (RFC 6761, 6762); addresses as domains are none either. */
const NOT_PUBLIC = /((^|\.)example\.(com|net|org)|\.(test|example|invalid|localhost|local|internal|onion)|\.\d+)$/

export function detection({ records, outbound, clock }: DetectionDeps): Detection {
  const cache = <T extends {}>() =>
    new LRUCache<string, Promise<T>>({ max: MAX_DOMAINS, ttlResolution: 0, perf: { now: () => clock.monotonic() } })
  const providers = cache<ProviderName>()
  const servers = cache<Found>()

  async function byMail(domain: string): Promise<ProviderName> {
    const hosts = await records.mx(domain)
    if (hosts.some((host) => GOOGLE.test(host))) return 'gmail'
    return hosts.some((host) => MICROSOFT.test(host)) ? 'microsoft' : 'imap'
  }

  /** RFC 6186. TLS from the first byte is preferred, as RFC 8314 has it. */
  async function byService(domain: string): Promise<ProposedServer | undefined> {
    const [tls, plain] = await Promise.all(
      ['_imaps', '_imap'].map((service) => records.srv(`${service}._tcp.${domain}`).catch(() => [])),
    )
    if (tls?.[0] !== undefined) return { ...tls[0], secure: true }
    return plain?.[0] && { ...plain[0], secure: plain[0].port === IMAPS_PORT }
  }

  async function lookUp(email: string, domain: string): Promise<Found> {
    const [said, service] = await Promise.all([autoconfigServer(outbound, email, domain), byService(domain)])
    return { server: said ?? service }
  }

  return {
    async providerOf(email) {
      const known = detectedProvider(email)
      const domain = domainOf(email)
      if (known !== 'imap' || domain === undefined || knownServer(email) !== undefined) return known
      return remembered(
        providers,
        domain,
        () => byMail(domain).catch(() => 'imap' as const),
        (found) => found !== 'imap',
      )
    },
    async serverOf(email) {
      const domain = domainOf(email)
      if (domain === undefined || knownServer(email) !== undefined) return undefined
      // A user name may be in the answer, so it is this address's alone.
      const key = email.toLowerCase()
      return (
        await remembered(
          servers,
          key,
          () => lookUp(email, domain),
          (found) => found.server !== undefined,
        )
      ).server
    },
  }
}

interface Found {
  server: ProposedServer | undefined
}

/** Callers at the same time share one search; what was found is kept for longer than that nothing was. */
function remembered<T extends {}>(
  cache: LRUCache<string, Promise<T>>,
  key: string,
  search: () => Promise<T>,
  isFound: (value: T) => boolean,
): Promise<T> {
  const known = cache.get(key)
  if (known !== undefined) return known
  const searching = search()
  cache.set(key, searching)
  void searching.then((value) => cache.set(key, searching, { ttl: isFound(value) ? FOUND_MS : NOTHING_MS }))
  return searching
}

function domainOf(email: string): string | undefined {
  const domain = domainToASCII(
    email
      .slice(email.lastIndexOf('@') + 1)
      .trim()
      .toLowerCase(),
  ).replace(/\.$/, '')
  return DOMAIN.test(domain) && !NOT_PUBLIC.test(domain) ? domain : undefined
}
