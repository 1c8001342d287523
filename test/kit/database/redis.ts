import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/platform/log/index.ts'
import type { Log } from '../../../src/platform/log/log.ts'
import { openRedis, type RedisLink } from '../../../src/platform/redis/index.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../../servers/redis.ts'

/** One redis-server for a suite. */
export interface RedisOfSuite {
  readonly server: RedisServerProcess
  /** Deletes all keys. Restarts the server if a test stopped it. */
  empty(): Promise<void>
  /** Opens connections like another process. Closed after the test. */
  link(log?: Log): Promise<RedisLink>
}

/** A suite with its own Redis. Skipped without redis-server, which CI=true turns into a failure. */
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
        await deleteAll(running().url)
      },
      async link(log = silentLog) {
        const link = await openRedis({ url: running().url, log })
        onTestFinished(() => link.close())
        return link
      },
    })
  })
}

async function deleteAll(url: string): Promise<void> {
  const connection = new Redis(url)
  connection.on('error', () => {})
  await connection.flushall()
  connection.disconnect()
}
