import { withTimeout } from '../../platform/concurrency/abort.ts'
import type { Log } from '../../platform/log/index.ts'
import { luaScript, type RedisLink } from '../../platform/redis/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Claims } from './key-claims.ts'

/** Short, because deliveries wait for the result. */
const TIMEOUT_MS = 500

/**
 * Claims that all replicas share in Redis, decided by one script in one round trip. Redis drops a key `ttlMs` after its claim.
 * Rejects at once while Redis is disconnected, otherwise within half a second.
 */
export function redisClaims(redis: RedisLink, timeoutMs = TIMEOUT_MS): Claims {
  return {
    async claim(claims, ttlMs) {
      if (claims.length === 0) return []
      const keys = claims.map(({ key }) => redis.key('dedup', key))
      const args = claims.flatMap(({ eventId, atMs }) => [eventId, atMs])
      const asked = claim(redis.commands, keys, [ttlMs, ...args])
      const holders = await withTimeout(asked, timeoutMs, () => new Error('Redis did not respond in time.'))
      if (!Array.isArray(holders) || holders.length !== claims.length)
        throw new Error('Redis did not return a holder for every claim')
      return holders.map(String)
    },
  }
}

/**
 * Arguments: the lifetime in milliseconds, then pairs of event id and time. A value holds the time of the claim, its end, and the
 * holder. A claim survives the crash of its process. When an event repeats its claim, the key may by then belong to a much later
 * event; the script grants it again, because it was free at the time of the first event.
 */
const claim = luaScript(`
local ttl, holders = tonumber(ARGV[1]), {}
for i, key in ipairs(KEYS) do
  local id, at = ARGV[2 * i], tonumber(ARGV[2 * i + 1])
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' then value = '' end
  local taken, ends, holder = string.match(value, '^(%d+) (%d+) (.+)$')
  if holder and at < tonumber(ends) and at > tonumber(taken) - ttl then
    holders[i] = holder
  else
    redis.call('SET', key, string.format('%.0f %.0f %s', at, at + ttl, id), 'PX', ttl)
    holders[i] = id
  end
end
return holders`)

/** Claims outside the database, which may be unavailable. */
export interface SharedClaims {
  /**
   * As `Claims`, but returns undefined while Redis is unavailable: the caller then uses the database. Never rejects. Must not be
   * called inside a transaction.
   */
  claim(...args: Parameters<Claims['claim']>): Promise<string[] | undefined>
}

interface SharedClaimsDeps {
  redis: RedisLink
  clock: Clock
  log: Log
  /** For tests, which a busy machine may stop for longer than deliveries should wait. */
  timeoutMs?: number
}

/** After a failure, Redis is skipped this long, so that deliveries do not wait for every timeout. */
const SKIP_MS = 5000

/** Logs a warning once per outage. */
export function sharedClaims(deps: SharedClaimsDeps): SharedClaims {
  const { clock, log } = deps
  const claims = redisClaims(deps.redis, deps.timeoutMs)
  let skipUntilMs = Number.NEGATIVE_INFINITY
  let isAway = false
  return {
    async claim(asked, ttlMs) {
      if (clock.monotonic() < skipUntilMs) return undefined
      try {
        const holders = await claims.claim(asked, ttlMs)
        isAway = false
        return holders
      } catch (error) {
        skipUntilMs = clock.monotonic() + SKIP_MS
        const message = 'Cannot store deduplication keys in Redis. The database stores them until Redis responds again.'
        if (!isAway) log.warn(message, { operation: 'deduplication.claim', error })
        isAway = true
        return undefined
      }
    },
  }
}
