import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { databases } from '../kit/database.ts'
import { SHARED_KEYS, startServiceProcess } from '../kit/process.ts'
import { playCrashes } from '../scenarios/crashes.ts'
import { playRedisTroubles } from '../scenarios/redis-failures.ts'
import { playRedisRestarts } from '../scenarios/redis-restarts.ts'
import { playReplicas } from '../scenarios/replicas.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

describe.skipIf(!hasRedis || inject('postgresUrl') === undefined)('the service on PostgreSQL and Redis', () => {
  const open = databases('postgres')
  let redis: RedisServerProcess
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.close())

  it('says in its health that cache, queue and pub/sub are Redis', { timeout: 120_000 }, async () => {
    const place = await open.place()
    const service = await startServiceProcess({ ...place, env: { ...SHARED_KEYS, REDIS_URL: redis.url } })
    const answer = await fetch(`${service.url}/health`)
    const { data } = (await answer.json()) as { data: Record<string, unknown> }
    expect(data).toMatchObject({
      status: 'healthy',
      cache: { provider: 'redis' },
      queue: { provider: 'redis' },
      pubsub: { provider: 'redis' },
    })
    expect(await service.stop()).toBe(0)
    expect(service.output()).not.toContain(redis.password)
  })

  it('announces each of 60 mails once over two kills', { timeout: 240_000 }, async () => {
    const place = { ...(await open.place()), env: { REDIS_URL: redis.url } }
    const books = await playCrashes(place, { mails: 60, mailboxes: 3, kills: 2, paceMs: 20 })
    expect(books.events).toBe(60)
  })

  it('announces each mail once while Redis goes and comes back empty', { timeout: 240_000 }, async () => {
    const books = await playRedisRestarts(await open.place(), redis, { mailboxes: 4, mails: 20, paceMs: 20 })
    expect(books.events).toBe(80)
  })

  it('announces each mail once while Redis is slow, hangs, is full and refuses the password, and then by itself is well', {
    timeout: 480_000,
  }, async () => {
    const books = await playRedisTroubles(await open.place(), redis, { mailboxes: 2, mails: 3, lastsMs: 1000 })
    expect(books.events).toBe(3 * 17)
  })

  it('announces each mail once while one instance is killed and the other is stopped', {
    timeout: 360_000,
  }, async () => {
    const place = { ...(await open.place()), env: { REDIS_URL: redis.url } }
    const books = await playReplicas(place, { mailboxes: 4, mails: 10, paceMs: 20, stoppedMs: 35_000 })
    expect(books.events).toBe(50)
  })
})
