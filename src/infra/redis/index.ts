/**
 * The connections to one Redis, watched and reconnected: what the Redis kinds of cache, bus and queue stand on.
 * Every key begins with `posthorn:`. Nothing here is the only copy of anything.
 */
export { type Connection, openRedis, type RedisLink } from './link.ts'
export { luaScript } from './script.ts'
