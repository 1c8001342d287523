import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { databases } from '../kit/database/database.ts'
import { runRedisFailures } from '../scenarios/redis-failures.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

describe.skipIf(!hasRedis || inject('postgresUrl') === undefined)('the service while Redis fails', () => {
  const open = databases('postgres')
  let redis: RedisServerProcess
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.close())

  it('announces each message once while Redis is slow, hangs, is full or rejects the password, and recovers by itself', {
    timeout: 600_000,
  }, async () => {
    const counts = await runRedisFailures(await open.place(), redis, { mailboxes: 6, messages: 20, lastsMs: 20_000 })
    console.log(
      `every Redis failure, 6 mailboxes: ${counts.events} events, ${counts.duplicates} duplicates under the same ids`,
    )
    expect(counts.events).toBe(20 * 17)
  })
})
