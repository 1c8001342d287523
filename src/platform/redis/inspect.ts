import { Redis } from 'ioredis'
import { withTimeout } from '../concurrency/abort.ts'
import { type Clock, clockAhead } from '../time/clock.ts'
import { serverProblem } from './link.ts'

/** A server's report about itself. */
export interface RedisReport {
  version: string
  /** Undefined when the server hides it. */
  policy: string | undefined
  problem: { message: string; isFatal: boolean } | undefined
  /** How far its clock is ahead of ours. */
  clockAheadMs: number
}

/** Connects once, asks, and disconnects. Takes at most `timeoutMs`; rejects with the reason when the server does not respond. */
export async function inspectRedis(url: string, clock: Clock, timeoutMs: number): Promise<RedisReport> {
  const connection = new Redis(url, { lazyConnect: true, connectTimeout: timeoutMs, retryStrategy: () => null })
  let cause: unknown
  connection.on('error', (error) => {
    cause ??= error
  })
  try {
    return await withTimeout(ask(connection, clock), timeoutMs, () => new Error('no response'))
  } catch (error) {
    throw cause ?? error
  } finally {
    connection.disconnect()
  }
}

async function ask(connection: Redis, clock: Clock): Promise<RedisReport> {
  await connection.connect()
  const info = await connection.info()
  const startedMs = clock.now()
  const [seconds, microseconds] = await connection.time()
  const endedMs = clock.now()
  return {
    version: /^(?:valkey_version|redis_version):(\S+)/m.exec(info)?.[1] ?? 'of an unknown version',
    policy: /^maxmemory_policy:(\S+)/m.exec(info)?.[1],
    problem: serverProblem(info),
    clockAheadMs: clockAhead(Number(seconds) * 1000 + Number(microseconds) / 1000, startedMs, endedMs),
  }
}
