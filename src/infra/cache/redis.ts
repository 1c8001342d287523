import { luaScript, type RedisLink } from '../redis/index.ts'
import type { Cache } from './cache.ts'

/** The cache that replicas share. Values and counters have keys apart, as in the memory kind. */
export function redisCache(redis: RedisLink): Cache {
  const { commands } = redis
  const valueKey = (key: string) => redis.key('cache', 'value', key)
  const counterKey = (key: string) => redis.key('cache', 'counter', key)
  return {
    provider: 'redis',
    async get(key) {
      // A value that is out of reach has vanished, as any may.
      const value = await commands.get(valueKey(key)).catch(() => null)
      return value ?? undefined
    },
    async set(key, value, ttlMs) {
      const write = ttlMs > 0 ? commands.set(valueKey(key), value, 'PX', Math.ceil(ttlMs)) : commands.del(valueKey(key))
      await write.catch(() => {})
    },
    async delete(key) {
      await commands.del(valueKey(key), counterKey(key))
    },
    async increment(key, ttlMs) {
      const answer = await increment(commands, [counterKey(key)], [Math.ceil(ttlMs)])
      if (!Array.isArray(answer)) throw new Error('a counter in Redis answered nothing')
      return { count: Number(answer[0]), resetInMs: Number(answer[1]) }
    },
    ping: () => redis.ping(),
    close: async () => {},
  }
}

/** A counter without an end (its process died between two commands of an older version, say) gets one. */
const increment = luaScript(`
local count = redis.call('INCR', KEYS[1])
local left = count == 1 and -1 or redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {count, left}`)
