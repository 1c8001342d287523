import { luaScript, type RedisLink } from '../../infra/redis/index.ts'
import { withTimeout } from '../../lib/abort.ts'
import type { Claims } from './claims.ts'

/** Deliveries wait for the answer. */
const PATIENCE_MS = 500

/**
 * Claims that replicas share in Redis: one script, one round trip, however many. Redis forgets a key `ttlMs` after it was
 * asked for. Rejects at once while Redis is away, and at the latest after half a second.
 */
export function redisClaims(redis: RedisLink): Claims {
  return {
    async claim(claims, ttlMs) {
      if (claims.length === 0) return []
      const keys = claims.map(({ key }) => redis.key('dedup', key))
      const args = claims.flatMap(({ eventId, atMs }) => [eventId, atMs])
      const asked = claim(redis.commands, keys, [ttlMs, ...args])
      const answer = await withTimeout(asked, PATIENCE_MS, () => new Error('Redis did not answer in time.'))
      if (!Array.isArray(answer) || answer.length !== claims.length) throw new Error('Redis did not answer every claim')
      return answer.map(String)
    },
  }
}

/**
 * Arguments: milliseconds to hold, then pairs of event and its time. A value is when it was taken, when it ends, and the
 * holder. A claim outlives the crash of who made it: asked again, an event may find that its key was granted once more
 * since, to one far behind it. It was granted then, and is now.
 */
const claim = luaScript(`
local ttl, holders = tonumber(ARGV[1]), {}
for i, key in ipairs(KEYS) do
  local id, at = ARGV[2 * i], tonumber(ARGV[2 * i + 1])
  local taken, ends, holder = string.match(redis.call('GET', key) or '', '^(%d+) (%d+) (.+)$')
  if holder and at < tonumber(ends) and at > tonumber(taken) - ttl then
    holders[i] = holder
  else
    redis.call('SET', key, string.format('%.0f %.0f %s', at, at + ttl, id), 'PX', ttl)
    holders[i] = id
  end
end
return holders`)
