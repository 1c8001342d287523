import type { Log } from '../../infra/log/index.ts'
import type { RedisLink } from '../../infra/redis/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Claims } from './claims.ts'
import { redisClaims } from './redis-claims.ts'

/** Claims outside the database, which may be out of reach. */
export interface SharedClaims {
  /** As `Claims`; undefined when nobody can say, and the database is to be asked. Never inside a transaction. Never rejects. */
  claim(...asked: Parameters<Claims['claim']>): Promise<string[] | undefined>
}

/** After a failure deliveries shall not wait for the next one at once. */
const REST_MS = 5000

/** Asks Redis; where it does not answer, says so once and lets it rest. */
export function sharedClaims(deps: { redis: RedisLink; clock: Clock; log: Log }): SharedClaims {
  const { clock, log } = deps
  const claims = redisClaims(deps.redis)
  let restsUntilMs = Number.NEGATIVE_INFINITY
  let isAway = false
  return {
    async claim(asked, ttlMs) {
      if (clock.monotonic() < restsUntilMs) return undefined
      try {
        const holders = await claims.claim(asked, ttlMs)
        isAway = false
        return holders
      } catch (error) {
        restsUntilMs = clock.monotonic() + REST_MS
        const message = 'Redis takes no deduplication keys; the database does until it answers again.'
        if (!isAway) log.warn(message, { operation: 'deduplication.claim', error })
        isAway = true
        return undefined
      }
    },
  }
}
