import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { databases } from '../kit/database/database.ts'
import { SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { runCrashes } from '../scenarios/crashes.ts'
import { runRedisFailures } from '../scenarios/redis-failures.ts'
import { runRedisRestarts } from '../scenarios/redis-restarts.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

describe.skipIf(!hasRedis || inject('postgresUrl') === undefined)('the service on PostgreSQL and Redis', () => {
  const open = databases('postgres')
  let redis: RedisServerProcess
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.close())

  it('reports Redis as its cache, queue and pub/sub', async () => {
    const place = await open.place()
    const service = await startServiceProcess({ ...place, env: { ...SHARED_KEYS, REDIS_URL: redis.url } })
    const response = await fetch(`${service.url}/health`)
    const { data } = (await response.json()) as { data: Record<string, unknown> }
    expect(data).toMatchObject({
      status: 'healthy',
      cache: { provider: 'redis' },
      queue: { provider: 'redis' },
      pubsub: { provider: 'redis' },
    })
    expect(await service.stop()).toBe(0)
    expect(service.output()).not.toContain(redis.password)
  })

  it('announces each of 60 messages once over two kills', async () => {
    const place = { ...(await open.place()), env: { REDIS_URL: redis.url } }
    const counts = await runCrashes(place, { messages: 60, mailboxes: 3, kills: 2, paceMs: 20 })
    expect(counts.events).toBe(60)
  })

  it('announces each message once while Redis stops and restarts empty', async () => {
    const counts = await runRedisRestarts(await open.place(), redis, { mailboxes: 4, messages: 20, paceMs: 20 })
    expect(counts.events).toBe(80)
  })

  it('announces each message once while Redis is slow, hangs, is full or rejects the password, and recovers by itself', async () => {
    const counts = await runRedisFailures(await open.place(), redis, { mailboxes: 2, messages: 3, lastsMs: 1000 })
    expect(counts.events).toBe(3 * 17)
  })
})
