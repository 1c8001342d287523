/**
 * The connections of the cache, bus and queue to one Redis, probed and reconnected automatically. Every key begins with
 * `posthorn:`. Redis never holds the only copy of anything.
 */
import type { RedisLink, RedisLinkOptions } from './link.ts'

export type { Connection, RedisLink } from './link.ts'
export { luaScript } from './script.ts'

/** See `openRedis` in `link.ts`. Loads the client, which a service without REDIS_URL does not need. */
export async function openRedis(options: RedisLinkOptions, aborted?: AbortSignal): Promise<RedisLink> {
  const link = await import('./link.ts')
  return link.openRedis(options, aborted)
}
