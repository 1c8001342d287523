import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { closing } from '../kit/closing.ts'
import { databases } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type ServicePlace, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { client } from '../scenarios/client.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

interface Logs {
  logs: { instance: string }[]
  missingInstances: string[]
}

describe.skipIf(inject('postgresUrl') === undefined)('the logs of two instances', () => {
  const open = databases('postgres')

  it('are merged on PostgreSQL', async () => expectMerged(await open.place()))

  describe.skipIf(!hasRedis)('with Redis', () => {
    let redis: RedisServerProcess
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis?.close())

    it('are merged', async () => expectMerged({ ...(await open.place()), redisUrl: redis.url }))
  })
})

/** Each instance returns the logs of both, and names the other one while that is suspended. */
async function expectMerged(place: ServicePlace): Promise<void> {
  const start = async () => {
    const service = await startServiceProcess({ ...place, env: { ...SHARED_KEYS, LOG_LEVEL: 'info' } })
    closing({ close: () => service.kill() })
    return service
  }
  const [a, b] = [await start(), await start()]
  const read = (service: typeof a) => client(service.url, service.key).call<Logs>('GET', '/logs?limit=200')
  const complete = (service: typeof a) =>
    eventually(async () => {
      const { logs, missingInstances } = await read(service)
      const instances = [...new Set(logs.map((entry) => entry.instance))].sort()
      expect([instances.length, missingInstances]).toEqual([2, []])
      return instances
    })
  const instances = await complete(a)
  expect(await complete(b)).toEqual(instances)
  const own = await client(b.url, b.key).call<{ instance: string }>('GET', '/health/detailed')
  b.signal('SIGSTOP')
  const alone = await read(a)
  b.signal('SIGCONT')
  expect(instances).toContain(alone.missingInstances[0])
  expect(alone.missingInstances).toHaveLength(1)
  expect(JSON.stringify(own)).toContain(alone.missingInstances[0])
  expect(alone.logs.map((entry) => entry.instance)).not.toContain(alone.missingInstances[0])
  await complete(a)
}
