import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { databases } from '../kit/database.ts'
import { playRedisTroubles } from '../scenarios/redis-failures.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

describe.skipIf(!hasRedis || inject('postgresUrl') === undefined)('the service on a Redis in trouble', () => {
  const open = databases('postgres')
  let redis: RedisServerProcess
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.close())

  it('announces each mail once while Redis is slow, hangs, is full and refuses the password, and then by itself is well', {
    timeout: 600_000,
  }, async () => {
    const books = await playRedisTroubles(await open.place(), redis, { mailboxes: 6, mails: 20, lastsMs: 20_000 })
    console.log(
      `Redis in every trouble, 6 mailboxes: ${books.events} events, ${books.repeats} repeats under the same ids`,
    )
    expect(books.events).toBe(20 * 17)
  })
})
