/**
 * The connections of the cache, bus and queue to one Redis, probed and reconnected automatically. Every key begins with
 * `posthorn:`. Redis never holds the only copy of anything.
 */
export { type Connection, openRedis, type RedisLink } from './link.ts'
export { luaScript } from './script.ts'
