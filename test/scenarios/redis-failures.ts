import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { type ServicePlace, SHARED_KEYS, startServiceProcess } from '../kit/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { RedisServerProcess } from '../servers/redis.ts'
import { startTcpProxy, type TcpProxy } from '../servers/tcp-proxy.ts'
import { type Books, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, numberedMail, PASSWORD, subscribe, userNames } from './mailboxes.ts'
import { healthReads } from './redis-restarts.ts'

/** Of each direction: far beyond a busy server, and within the limits of every command. */
const SLOW_MS = 400

export interface TroubledStory {
  mailboxes: number
  /** Mails in each act: before, during and after every trouble. */
  mails: number
  /** How long a trouble lasts at least. */
  lastsMs: number
}

interface Trouble {
  name: string
  /** What the health says meanwhile. */
  health: 'degraded' | 'healthy'
  begin(): Promise<void>
  end(): Promise<void>
}

/**
 * One instance while Redis is slow, hangs, is full, or comes back with another password. Mail is announced all the same, the
 * health reports the trouble and its end, and a stop during a trouble is an orderly one.
 */
export async function playRedisTroubles(
  place: ServicePlace,
  redis: RedisServerProcess,
  story: TroubledStory,
): Promise<Books> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(story.mailboxes)
  const url = new URL(redis.url)
  const cable = await startTcpProxy(Number(url.port))
  url.port = String(cable.port)
  const service = await startServiceProcess({ ...place, env: { ...SHARED_KEYS, ...place.env, REDIS_URL: url.href } })
  const api = client(service.url, service.key)
  const subjects: string[] = []
  const announced = () => expectEachAnnouncedOnce(application, subjects, 60_000)
  const deliver = async (act: string) => {
    for (let index = 0; index < story.mails; index += 1) {
      const subject = `${act}-${index}`
      subjects.push(subject)
      await dovecot.deliver(users[index % users.length] ?? '', numberedMail(subject))
    }
    return announced()
  }
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, users)
    await healthReads(api, 'healthy')
    let { repeats } = await deliver('before')
    for (const { name, health, begin, end } of troublesOf(redis, cable)) {
      const lasting = sleep(story.lastsMs)
      await begin()
      await deliver(`${name}, at once`)
      await healthReads(api, health)
      await deliver(`${name}, known`)
      await lasting
      await deliver(`${name}, for long`)
      await end()
      await healthReads(api, 'healthy')
      const after = await deliver(`after ${name}`)
      if (health === 'healthy') expect(after.repeats).toBe(repeats)
      repeats = after.repeats
    }
    redis.freeze()
    expect(await service.stop()).toBe(0)
    const books = await announced()
    expect(service.output()).not.toContain(redis.password)
    return books
  } finally {
    await service.kill()
    redis.thaw()
    await application.close()
    await dovecot.stop()
    await cable.close()
  }
}

function troublesOf(redis: RedisServerProcess, cable: TcpProxy): Trouble[] {
  const restart = async (password?: string) => {
    await redis.stop()
    await redis.start(password)
  }
  return [
    { name: 'slow', health: 'healthy', begin: async () => cable.delay(SLOW_MS), end: async () => cable.delay(0) },
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
