import type { FastifyRequest } from 'fastify'
import type { RouteLimits } from '../../../platform/http/index.ts'

const MINUTE_MS = 60_000

/**
 * The buckets of a hosted route: `perMinute` requests of an address, and `perSession` in ten minutes of one session, which
 * a member of the request identifies.
 */
export function hostedLimits(
  part: 'query' | 'params' | 'body',
  member: string,
  { perMinute = 120, perSession = 60 } = {},
): RouteLimits {
  return {
    address: { limit: perMinute, windowMs: MINUTE_MS },
    subject: { limit: perSession, windowMs: 10 * MINUTE_MS, of: (request) => textMember(request, part, member) },
  }
}

/** Hosted routes handle invalid requests themselves, so the value can be anything. */
function textMember(request: FastifyRequest, part: 'query' | 'params' | 'body', member: string): string | undefined {
  const object: unknown = request[part]
  if (typeof object !== 'object' || object === null) return undefined
  const value = Object.entries(object).find(([name]) => name === member)?.[1]
  return typeof value === 'string' && value !== '' ? value : undefined
}
