import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../lib/clock.ts'
import { classOf } from './address-class.ts'
import { hostName } from './host-name.ts'
import { privateTargets } from './private-targets.ts'
import type { Resolve, Resolved } from './resolver.ts'

/** Where something is asked to connect. */
export interface ConnectTarget {
  host: string
  port: number
}

/** An address that was checked; connect to `address` and keep `host` (in its normal spelling) as the TLS server name. */
export interface CheckedTarget extends ConnectTarget {
  address: string
  family: 4 | 6
}

/**
 * Resolves a host that came from outside, checks every answer, and pins one. Throws `GuardError` when any answer may
 * not be reached (the message names PRIVATE_TARGETS), or when the name does not resolve in time.
 */
export interface AddressGuard {
  check(target: ConnectTarget): Promise<CheckedTarget>
  /** True when plain http may be used to this address: only what PRIVATE_TARGETS covers. */
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
  /** The setting's text. */
  privateTargets: string
  resolve: Resolve
  clock: Clock
}

/** IMAP, submission, SMTP, and https for CalDAV. */
export const FORM_PORTS: ReadonlySet<number> = new Set([143, 993, 25, 465, 587, 443])
const MAX_NAMES = 10_000

type Address = ipaddr.IPv4 | ipaddr.IPv6

export function addressGuard(deps: GuardDeps): AddressGuard {
  const targets = privateTargets(deps.privateTargets)
  // Thousands of requests a second go to the same names; the pinned address is checked every time all the same.
  const known = new LRUCache<string, Promise<Resolved>>({
    max: MAX_NAMES,
    ttlResolution: 0,
    perf: { now: () => deps.clock.monotonic() },
  })

  function resolve(host: string): Promise<Resolved> {
    const cached = known.get(host)
    if (cached !== undefined) return cached
    const resolving = deps.resolve(host)
    known.set(host, resolving)
    resolving.then(
      ({ addresses, ttlMs }) =>
        known.set(host, Promise.resolve({ addresses: shuffled(addresses), ttlMs }), { ttl: ttlMs }),
      () => known.delete(host),
    )
    return resolving
  }

  function refuseUnlessOpen(host: string, address: Address): void {
    const kind = classOf(address)
    if (kind === 'never') {
      throw new GuardError(
        'refused',
        `${host} is at a link-local, metadata or unusable address, which may never be reached, whatever PRIVATE_TARGETS says.`,
      )
    }
    if (kind !== 'public' && !targets.covers(host, address)) {
      throw new GuardError('refused', `${host} is not at a public address, and PRIVATE_TARGETS does not cover it.`)
    }
  }

  return {
    async check({ host: given, port }) {
      const host = hostName(given)
      if (host === undefined) throw new GuardError('unresolved', 'This is not the name of a host.')
      const addresses = ipaddr.isValid(host) ? [host] : await addressesOf(host, resolve)
      const parsed = addresses.map(parseAddress)
      for (const address of parsed) refuseUnlessOpen(host, address)
      // IPv4 first: whether IPv6 leads anywhere from here is not known, and one address is pinned.
      const pinned = parsed.find((address) => address.kind() === 'ipv4') ?? parsed[0]
      if (pinned === undefined) throw new GuardError('unresolved', `${host} does not resolve.`)
      return { host, port, address: pinned.toString(), family: pinned.kind() === 'ipv4' ? 4 : 6 }
    },
    allowsPlain: (checked) => targets.covers(checked.host, ipaddr.parse(checked.address)),
  }
}

/**
 * True when a port typed into the hosted form may be used: those of mail and https, or any of a host that PRIVATE_TARGETS
 * covers. Resolves the host only in the second case.
 */
export async function allowsFormPort(guard: AddressGuard, target: ConnectTarget): Promise<boolean> {
  if (FORM_PORTS.has(target.port)) return true
  try {
    return guard.allowsPlain(await guard.check(target))
  } catch (error) {
    if (error instanceof GuardError) return false
    throw error
  }
}

async function addressesOf(host: string, resolve: Resolve): Promise<string[]> {
  try {
    return (await resolve(host)).addresses
  } catch (error) {
    throw new GuardError('unresolved', `${host} does not resolve.`, { cause: error })
  }
}

/** ::ffff:10.0.0.1 is 10.0.0.1. A zone (`%eth0`) or anything else that is not an address is refused. */
function parseAddress(text: string): Address {
  const spelled = hostName(text)
  if (spelled === undefined || !ipaddr.isValid(spelled)) {
    throw new GuardError('refused', 'The name resolves to no usable address.')
  }
  return ipaddr.process(spelled)
}

/** Names with several addresses spread over them, and move on from a dead one when the answer is old. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
