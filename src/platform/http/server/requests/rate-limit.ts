import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Cache } from '../../../cache/index.ts'
import { withTimeout } from '../../../concurrency/abort.ts'
import { sha256 } from '../../../crypto/sha256.ts'
import { AppError } from '../../../errors/app-error.ts'
import type { Log } from '../../../log/index.ts'
import { atMost } from '../../../lru.ts'

/** At most `limit` requests in a window that starts with the first of them. */
export interface Bucket {
  limit: number
  windowMs: number
}

/** The buckets of a route, each counted separately. */
export interface RouteLimits {
  /** Routes with the same name share their buckets (a form and its folder list). Default: a name for this route only. */
  name?: string
  /** Per client address, counted before the request is read. IPv6 clients count per /64. Open routes do not count requests with a key. */
  address?: Bucket
  /**
   * Per value that `of` finds in the validated request, such as a session code. Undefined is not counted. A value that strangers know
   * must not be counted for them, or they could lock out whom it belongs to: count the client instead.
   */
  subject?: Bucket & { of(request: FastifyRequest): string | undefined | Promise<string | undefined> }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    rateLimit?: RouteLimits
  }
}

export interface RateLimits {
  cache: Cache
  /** Per key owner, over all keyed routes. Off when absent. */
  api?: Bucket
}

/**
 * Wrong keys of one client address. A valid key always passes: it is too long to be guessed, and the application may share
 * its address with anybody behind the same proxy.
 */
const WRONG_KEYS: Bucket = { limit: 20, windowMs: 60_000 }

export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

interface RateGuards {
  byAddress: Guard
  byCaller: Guard
  bySubject: Guard
  /** Counts a key that is not valid. */
  wrongKey: Guard
}

/** Hooks that throw `rate_limited` when the address, the key owner, or the route's subject exceeds its bucket. */
export function rateGuards(limits: RateLimits, log: Log): RateGuards {
  const { api } = limits
  const increment = counterWithFallback(limits.cache, log)
  const count = async (reply: FastifyReply, key: string, bucket: Bucket): Promise<void> => {
    const { count: used, resetInMs } = await increment(`rate:${key}`, bucket.windowMs)
    setHeaders(reply, bucket, used, resetInMs)
    if (used <= bucket.limit) return
    if (used === bucket.limit + 1) {
      log.warn('A client exceeded a rate limit.', { operation: 'http.limit', metadata: { key } })
    }
    throw new AppError('rate_limited', { headers: { 'retry-after': seconds(resetInMs) } })
  }
  return {
    async byAddress(request, reply) {
      const route = request.routeOptions.config.rateLimit
      if (route?.address === undefined || request.caller !== undefined) return
      await count(reply, `${limitName(request, route)}:address:${clientBlock(request.ip)}`, route.address)
    },
    async byCaller(request, reply) {
      if (api === undefined || request.caller === undefined) return
      await count(reply, `api:${request.caller.owner}`, api)
    },
    async bySubject(request, reply) {
      const route = request.routeOptions.config.rateLimit
      const subject = await route?.subject?.of(request)
      if (route?.subject === undefined || subject === undefined) return
      await count(reply, `${limitName(request, route)}:subject:${digest(subject)}`, route.subject)
    },
    wrongKey: (request, reply) => count(reply, `wrong-keys:address:${clientBlock(request.ip)}`, WRONG_KEYS),
  }
}

function limitName(request: FastifyRequest, limits: RouteLimits): string {
  return limits.name ?? `${request.method} ${request.routeOptions.url}`
}

/** A subject may be a session code, which must not appear in the cache or the log. */
function digest(subject: string): string {
  return sha256(subject, 'base64url').slice(0, 22)
}

/** The addresses that count as one client: an IPv4 address, or the /64 that a provider gives to one IPv6 customer. */
export function clientBlock(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv6' ? `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`)}/64` : parsed.toString()
}

/** When several buckets apply, the headers describe the one with the fewest requests left. */
function setHeaders(reply: FastifyReply, bucket: Bucket, used: number, resetInMs: number): void {
  const remaining = Math.max(0, bucket.limit - used)
  const lowest = reply.getHeader('ratelimit-remaining')
  if (lowest !== undefined && Number(lowest) <= remaining) return
  reply.headers({
    'ratelimit-limit': bucket.limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': seconds(resetInMs),
    'ratelimit-policy': `${bucket.limit};w=${seconds(bucket.windowMs)}`,
  })
}

function seconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}

type Increment = Cache['increment']

const CACHE_TIMEOUT_MS = 1000
const MAX_LOCAL_BUCKETS = 20_000

/**
 * Counts in the shared cache, and in this process while the cache fails. The limits protect the IMAP form against password
 * guessing, so a cache outage must neither lift them nor stop the service.
 */
function counterWithFallback(cache: Cache, log: Log): Increment {
  const counts = new LRUCache<string, number>({ ...atMost(MAX_LOCAL_BUCKETS), noUpdateTTL: true })
  let hasFailed = false
  return async (key, ttlMs) => {
    try {
      const timeout = () => new Error('the cache did not respond in time')
      const counted = await withTimeout(cache.increment(key, ttlMs), CACHE_TIMEOUT_MS, timeout)
      hasFailed = false
      return counted
    } catch (error) {
      if (!hasFailed) {
        log.warn(
          'Cannot count requests in the cache. Each instance counts its own until the cache is available again.',
          {
            operation: 'http.limit',
            error,
          },
        )
      }
      hasFailed = true
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count, { ttl: ttlMs })
      return { count, resetInMs: counts.getRemainingTTL(key) }
    }
  }
}
