import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { silentLog } from '../../src/infra/log/index.ts'
import type { Log } from '../../src/infra/log/log.ts'
import { openRedis, type RedisLink } from '../../src/infra/redis/index.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

/** One redis-server for a suite. */
export interface RedisOfSuite {
  readonly server: RedisServerProcess
  /** Forgets everything; runs again if a test has left it stopped. */
  empty(): Promise<void>
  /** The connections as one more process would have them, closed after the test. */
  link(log?: Log): Promise<RedisLink>
}

/** A suite with a Redis of its own. Without redis-server it is skipped, which CI=true turns into a failure. */
export function describeRedis(title: string, suite: (redis: RedisOfSuite) => void): void {
  describe.skipIf(!hasRedis)(title, () => {
    let server: RedisServerProcess | undefined
    const running = () => {
      if (server === undefined) throw new Error('Redis runs only inside tests')
      return server
    }
    beforeAll(async () => {
      server = await startRedis()
    })
    afterAll(() => server?.close())
    suite({
      get server() {
        return running()
      },
      async empty() {
        running().thaw()
        await running().start()
        await forgetAll(running().url)
      },
      async link(log = silentLog) {
        const link = await openRedis({ url: running().url, log })
        onTestFinished(() => link.close())
        return link
      },
    })
  })
}

async function forgetAll(url: string): Promise<void> {
  const connection = new Redis(url)
  connection.on('error', () => {})
  await connection.flushall()
  connection.disconnect()
}
