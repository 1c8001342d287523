import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { rethrowProgrammingError } from '../errors/programming-errors.ts'
import { atMost } from '../lru.ts'
import type { Clock } from '../time/clock.ts'
import { classifyAddress } from './address-classes.ts'
import { type Resolve, type Resolved, resolver } from './dns.ts'
import { hostName } from './host-name.ts'
import { privateTargets } from './private-targets.ts'

/** A host from outside to which the service shall connect. */
export interface ConnectTarget {
  host: string
  port: number
}

/** A checked address. Connect to `address`, and use `host` (in canonical form) as the TLS server name. */
export interface CheckedTarget extends ConnectTarget {
  address: string
  family: 4 | 6
}

/**
 * Resolves a host from outside, checks every address, and pins one. Throws `GuardError` when any address is not allowed (the
 * message names PRIVATE_TARGETS) or the name does not resolve in time.
 */
export interface AddressGuard {
  check(target: ConnectTarget): Promise<CheckedTarget>
  /** True when the service may send plain text: only to targets that PRIVATE_TARGETS covers. */
  allowsPlain(checked: CheckedTarget): boolean
}

export class GuardError extends Error {
  override name = 'GuardError'
  readonly reason: 'refused' | 'unresolved'
  constructor(reason: 'refused' | 'unresolved', message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

export interface GuardDeps {
  /** The value of PRIVATE_TARGETS. */
  privateTargets: string
  resolve: Resolve
  clock: Clock
  /** Called with an address that was refused, at most once a minute per host. The reason names the setting. */
  onRefused?(host: string, reason: string): void
}

const RESOLVE_TIMEOUT_MS = 5000
const MAX_HOSTS = 10_000
const LITERAL_TTL_MS = 60_000
const REPORT_EVERY_MS = 60_000

type Address = ipaddr.IPv4 | ipaddr.IPv6

type Pinned = Omit<CheckedTarget, 'port'> & { ttlMs: number }

export function addressGuard(deps: GuardDeps): AddressGuard {
  const targets = privateTargets(deps.privateTargets)
  // Thousands of requests per second go to the same hosts. A result is valid as long as its DNS records.
  const checked = new LRUCache<string, Promise<Pinned>>({
    ...atMost(MAX_HOSTS),
    ttlResolution: 0,
    perf: { now: () => deps.clock.monotonic() },
  })

  const reported = new LRUCache<string, true>({
    ...atMost(MAX_HOSTS),
    ttl: REPORT_EVERY_MS,
    ttlResolution: 0,
    perf: { now: () => deps.clock.monotonic() },
  })

  function report(host: string, error: unknown): void {
    if (!(error instanceof GuardError) || error.reason !== 'refused' || reported.has(host)) return
    reported.set(host, true)
    deps.onRefused?.(host, error.message)
  }

  function requireAllowed(host: string, address: Address): void {
    const kind = classifyAddress(address)
    if (kind === 'never') {
      throw new GuardError(
        'refused',
        `${host} has a link-local, metadata or unusable address. PRIVATE_TARGETS cannot allow it.`,
      )
    }
    if (kind !== 'public' && !targets.covers(host, address)) {
      throw new GuardError('refused', `${host} does not have a public address, and PRIVATE_TARGETS does not allow it.`)
    }
  }

  async function checkHost(name: string): Promise<Pinned> {
    const host = hostName(name)
    if (host === undefined) throw new GuardError('unresolved', 'This is not a valid host name.')
    const { addresses, ttlMs } = ipaddr.isValid(host)
      ? { addresses: [host], ttlMs: LITERAL_TTL_MS }
      : await resolve(host)
    const parsed = shuffled(addresses.map(parseAddress))
    for (const address of parsed) requireAllowed(host, address)
    // Prefers IPv4, because only one address is pinned and the machine may have no IPv6 route.
    const pinned = parsed.find((address) => address.kind() === 'ipv4') ?? parsed[0]
    if (pinned === undefined) throw unresolved(host, undefined)
    return { host, address: pinned.toString(), family: pinned.kind() === 'ipv4' ? 4 : 6, ttlMs }
  }

  async function resolve(host: string): Promise<Resolved> {
    try {
      return await deps.resolve(host)
    } catch (error) {
      rethrowProgrammingError(error)
      throw unresolved(host, error)
    }
  }

  /** Concurrent calls share one lookup. Failures are not cached. */
  function cachedCheck(name: string): Promise<Pinned> {
    const cached = checked.get(name)
    if (cached !== undefined) return cached
    const checking = checkHost(name)
    checked.set(name, checking)
    checking.then(
      ({ ttlMs }) => checked.set(name, checking, { ttl: ttlMs }),
      (error: unknown) => {
        checked.delete(name)
        report(name, error)
      },
    )
    return checking
  }

  return {
    async check({ host: name, port }) {
      const { host, address, family } = await cachedCheck(name)
      return { host, port, address, family }
    },
    allowsPlain: ({ host, address }) => targets.covers(host, ipaddr.parse(address)),
  }
}

/** The guard of the service, which asks the name servers of the machine. */
export function serviceGuard(deps: Omit<GuardDeps, 'resolve'>): AddressGuard {
  return addressGuard({ ...deps, resolve: resolver({ timeoutMs: RESOLVE_TIMEOUT_MS }) })
}

function unresolved(host: string, cause: unknown): GuardError {
  return new GuardError('unresolved', `${host} does not resolve.`, { cause })
}

/** Reads ::ffff:10.0.0.1 as 10.0.0.1. Rejects a zone (`%eth0`) and everything else that is not an address. */
function parseAddress(text: string): Address {
  const spelled = hostName(text)
  if (spelled === undefined || !ipaddr.isValid(spelled)) {
    throw new GuardError('refused', 'The name does not resolve to a usable address.')
  }
  return ipaddr.process(spelled)
}

/** Spreads connections over the addresses of a name and leaves a dead one when the cached result expires. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
