import { luaScript, type RedisLink } from '../redis/index.ts'
import type { Cache } from './cache.ts'

/** The cache that replicas share. As in the memory cache, values and counters have separate keys. */
export function redisCache(redis: RedisLink): Cache {
  const { commands } = redis
  const valueKey = (key: string) => redis.key('cache', 'value', key)
  const counterKey = (key: string) => redis.key('cache', 'counter', key)
  return {
    provider: 'redis',
    async get(key) {
      // While Redis is unavailable the value counts as evicted.
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
      const result = await increment(commands, [counterKey(key)], [Math.ceil(ttlMs)])
      if (!Array.isArray(result)) throw new Error('Redis returned no counter')
      return { count: Number(result[0]), resetInMs: Number(result[1]) }
    },
    ping: () => redis.ping(),
    close: async () => {},
  }
}

/** Also gives a lifetime to a counter that has none, for example after an interrupted command, and replaces what is no counter. */
const increment = luaScript(`
local count = redis.pcall('INCR', KEYS[1])
if type(count) ~= 'number' then
  redis.call('DEL', KEYS[1])
  count = redis.call('INCR', KEYS[1])
end
local left = count == 1 and -1 or redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {count, left}`)
