import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { AppError } from '../../../lib/errors.ts'
import type { Cache } from '../../cache/index.ts'
import type { Log } from '../../log/index.ts'
import { countingWithFallback } from './counting.ts'

/** One bucket: so many requests in a window that begins with the first of them. */
export interface Bucket {
  limit: number
  windowMs: number
}

/**
 * The buckets of a route, each counted on its own. `name` shares them between routes (a form and its folder list);
 * absent: the route's own.
 */
export interface RouteLimits {
  name?: string
  /** Per client address, counted before anything of the request is read. IPv6 clients count per /64. */
  address?: Bucket
  /** Per session, slug or whatever `of` finds in the validated request; undefined is not counted. */
  subject?: Bucket & { of(request: FastifyRequest): string | undefined }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    rateLimit?: RouteLimits
  }
}

export interface RateLimits {
  cache: Cache
  /** Per key owner over all keyed routes; off when absent. */
  api?: Bucket
}

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** The three moments at which a request may be one too many, as hooks. */
export function rateGuards(limits: RateLimits, log: Log): { byAddress: Guard; byCaller: Guard; bySubject: Guard } {
  const { api } = limits
  const increment = countingWithFallback(limits.cache, log)
  const count = async (reply: FastifyReply, key: string, bucket: Bucket): Promise<void> => {
    const { count: used, resetInMs } = await increment(`rate:${key}`, bucket.windowMs)
    tell(reply, bucket, used, resetInMs)
    if (used <= bucket.limit) return
    if (used === bucket.limit + 1) log.warn('a rate limit was reached', { operation: 'http.limit', metadata: { key } })
    throw new AppError('rate_limited', { headers: { 'retry-after': seconds(resetInMs) } })
  }
  return {
    async byAddress(request, reply) {
      const route = request.routeOptions.config.rateLimit
      if (route?.address === undefined) return
      await count(reply, `${nameOf(request, route)}:address:${clientBlock(request.ip)}`, route.address)
    },
    async byCaller(request, reply) {
      if (api === undefined || request.caller === undefined) return
      await count(reply, `api:${request.caller.owner}`, api)
    },
    async bySubject(request, reply) {
      const route = request.routeOptions.config.rateLimit
      const subject = route?.subject?.of(request)
      if (route?.subject === undefined || subject === undefined) return
      await count(reply, `${nameOf(request, route)}:subject:${digest(subject)}`, route.subject)
    },
  }
}

function nameOf(request: FastifyRequest, limits: RouteLimits): string {
  return limits.name ?? `${request.method} ${request.routeOptions.url}`
}

/** A subject may be a session code: neither the cache nor the log may hold it. */
function digest(subject: string): string {
  return createHash('sha256').update(subject).digest('base64url').slice(0, 22)
}

/** Who counts as one client: an IPv4 address, or the /64 that a provider gives to one IPv6 customer. */
export function clientBlock(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv6' ? `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`)}/64` : parsed.toString()
}

/** Of several buckets the one with the least left is told. */
function tell(reply: FastifyReply, bucket: Bucket, used: number, resetInMs: number): void {
  const remaining = Math.max(0, bucket.limit - used)
  const told = reply.getHeader('ratelimit-remaining')
  if (told !== undefined && Number(told) <= remaining) return
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
