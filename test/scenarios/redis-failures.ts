import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { type ServicePlace, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { RedisServerProcess } from '../servers/redis.ts'
import { startTcpProxy, type TcpProxy } from '../servers/tcp-proxy.ts'
import { type AnnouncementCounts, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe, userNames } from './mailboxes.ts'
import { expectHealth } from './redis-restarts.ts'

/** Delay per direction: far slower than a busy server, but within every command timeout. */
const SLOW_MS = 400

export interface RedisFailureScenario {
  mailboxes: number
  /** Per phase: before, during and after each failure. */
  messages: number
  /** Minimum duration of each failure. */
  lastsMs: number
}

interface RedisFailure {
  name: string
  /** Health status while the failure lasts. */
  health: 'degraded' | 'healthy'
  begin(): Promise<void>
  end(): Promise<void>
}

/**
 * Delivers messages while Redis is slow, hangs, is full, or restarts with another password. Every message must still be
 * announced once, health must report the failure and its end, and the service must stop cleanly during a failure.
 */
export async function runRedisFailures(
  place: ServicePlace,
  redis: RedisServerProcess,
  scenario: RedisFailureScenario,
): Promise<AnnouncementCounts> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(scenario.mailboxes)
  const url = new URL(redis.url)
  const proxy = await startTcpProxy(Number(url.port))
  url.port = String(proxy.port)
  const service = await startServiceProcess({ ...place, env: { ...SHARED_KEYS, ...place.env, REDIS_URL: url.href } })
  const api = client(service.url, service.key)
  const subjects: string[] = []
  const announced = () => expectEachAnnouncedOnce(application, subjects, 60_000)
  const deliver = async (phase: string) => {
    for (let index = 0; index < scenario.messages; index += 1) {
      const subject = `${phase}-${index}`
      subjects.push(subject)
      await dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject))
    }
    return announced()
  }
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, users)
    await expectHealth(api, 'healthy')
    let { duplicates } = await deliver('before')
    for (const { name, health, begin, end } of buildFailures(redis, proxy)) {
      const lasting = sleep(scenario.lastsMs)
      await begin()
      await deliver(`${name}, at first`)
      await expectHealth(api, health)
      await deliver(`${name}, detected`)
      await lasting
      await deliver(`${name}, at the end`)
      await end()
      await expectHealth(api, 'healthy')
      const after = await deliver(`after ${name}`)
      if (health === 'healthy') expect(after.duplicates).toBe(duplicates)
      duplicates = after.duplicates
    }
    redis.freeze()
    expect(await service.stop()).toBe(0)
    const counts = await announced()
    expect(service.output()).not.toContain(redis.password)
    return counts
  } finally {
    await service.kill()
    redis.thaw()
    await application.close()
    await dovecot.stop()
    await proxy.close()
  }
}

function buildFailures(redis: RedisServerProcess, proxy: TcpProxy): RedisFailure[] {
  const restart = async (password?: string) => {
    await redis.stop()
    await redis.start(password)
  }
  return [
    { name: 'slow', health: 'healthy', begin: async () => proxy.delay(SLOW_MS), end: async () => proxy.delay(0) },
    { name: 'frozen', health: 'degraded', begin: async () => redis.freeze(), end: async () => redis.thaw() },
    {
      name: 'full',
      health: 'degraded',
      begin: () => configure(redis, 'maxmemory', '1'),
      end: () => configure(redis, 'maxmemory', '0'),
    },
    { name: 'another password', health: 'degraded', begin: () => restart('another-password'), end: () => restart() },
  ]
}

async function configure(redis: RedisServerProcess, name: string, value: string): Promise<void> {
  const connection = new Redis(redis.url)
  try {
    await connection.config('SET', name, value)
  } finally {
    connection.disconnect()
  }
}
