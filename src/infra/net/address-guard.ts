import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../lib/clock.ts'
import { classOf } from './addresses.ts'
import type { Resolve, Resolved } from './dns.ts'
import { hostName } from './host-name.ts'
import { privateTargets } from './private-targets.ts'

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
const MAX_HOSTS = 10_000
const LITERAL_TTL_MS = 60_000

type Address = ipaddr.IPv4 | ipaddr.IPv6

type Pinned = Omit<CheckedTarget, 'port'> & { ttlMs: number }

export function addressGuard(deps: GuardDeps): AddressGuard {
  const targets = privateTargets(deps.privateTargets)
  // Thousands of requests a second go to the same hosts: a verdict stands for as long as the answer it was made of.
  const verdicts = new LRUCache<string, Promise<Pinned>>({
    max: MAX_HOSTS,
    ttlResolution: 0,
    perf: { now: () => deps.clock.monotonic() },
  })

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

  async function judge(given: string): Promise<Pinned> {
    const host = hostName(given)
    if (host === undefined) throw new GuardError('unresolved', 'This is not the name of a host.')
    const { addresses, ttlMs } = ipaddr.isValid(host)
      ? { addresses: [host], ttlMs: LITERAL_TTL_MS }
      : await resolve(host)
    const parsed = shuffled(addresses.map(parseAddress))
    for (const address of parsed) refuseUnlessOpen(host, address)
    // IPv4 first: whether IPv6 leads anywhere from here is not known, and one address is pinned.
    const pinned = parsed.find((address) => address.kind() === 'ipv4') ?? parsed[0]
    if (pinned === undefined) throw unresolved(host, undefined)
    return { host, address: pinned.toString(), family: pinned.kind() === 'ipv4' ? 4 : 6, ttlMs }
  }

  async function resolve(host: string): Promise<Resolved> {
    try {
      return await deps.resolve(host)
    } catch (error) {
      throw unresolved(host, error)
    }
  }

  /** Callers at the same time share one lookup; what failed is not remembered. */
  function verdictOn(given: string): Promise<Pinned> {
    const known = verdicts.get(given)
    if (known !== undefined) return known
    const verdict = judge(given)
    verdicts.set(given, verdict)
    verdict.then(
      ({ ttlMs }) => verdicts.set(given, verdict, { ttl: ttlMs }),
      () => verdicts.delete(given),
    )
    return verdict
  }

  return {
    async check({ host: given, port }) {
      const { host, address, family } = await verdictOn(given)
      return { host, port, address, family }
    },
    allowsPlain: ({ host, address }) => targets.covers(host, ipaddr.parse(address)),
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

function unresolved(host: string, cause: unknown): GuardError {
  return new GuardError('unresolved', `${host} does not resolve.`, { cause })
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
