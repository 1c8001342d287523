/**
 * The connections of the cache, bus and queue to one Redis, probed and reconnected automatically. Every key begins with
 * `posthorn:`. Redis never holds the only copy of anything.
 */
import type { Clock } from '../time/clock.ts'
import type { RedisReport } from './inspect.ts'
import type { RedisLink, RedisLinkOptions } from './link.ts'

export type { RedisReport } from './inspect.ts'
export type { Connection, RedisLink } from './link.ts'
export { luaScript } from './script.ts'

/** See `openRedis` in `link.ts`. Loads the client, which a service without REDIS_URL does not need. */
export async function openRedis(options: RedisLinkOptions, aborted?: AbortSignal): Promise<RedisLink> {
  const link = await import('./link.ts')
  return link.openRedis(options, aborted)
}

/** See `inspectRedis` in `inspect.ts`. */
export async function inspectRedis(url: string, clock: Clock, timeoutMs: number): Promise<RedisReport> {
  const inspect = await import('./inspect.ts')
  return inspect.inspectRedis(url, clock, timeoutMs)
}
