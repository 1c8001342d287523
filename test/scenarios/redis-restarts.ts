import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type ServicePlace, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { RedisServerProcess } from '../servers/redis.ts'
import { type AnnouncementCounts, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { type Client, client } from './client.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe, userNames } from './mailboxes.ts'

export interface RedisRestartScenario {
  mailboxes: number
  /** Per phase. */
  messages: number
  paceMs: number
}

interface Health {
  data: { status: string; services: Record<string, boolean>; queue: { provider: string } }
}

/**
 * Delivers messages to two instances on PostgreSQL and Redis. Redis stops for a phase, during which messages must still be
 * announced, and restarts empty. In the last phase it restarts midway. Requires exactly one event per message.
 */
export async function runRedisRestarts(
  place: ServicePlace,
  redis: RedisServerProcess,
  scenario: RedisRestartScenario,
): Promise<AnnouncementCounts> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(scenario.mailboxes)
  const env = { ...SHARED_KEYS, ...place.env, REDIS_URL: redis.url }
  const a = await startServiceProcess({ ...place, env })
  const b = await startServiceProcess({ ...place, env })
  const subjects: string[] = []
  const deliverDuring = async (phase: string, between?: (index: number) => Promise<void>) => {
    for (let index = 0; index < scenario.messages; index += 1) {
      const subject = `${phase}-${index}`
      subjects.push(subject)
      await dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject))
      await sleep(scenario.paceMs)
      await between?.(index)
    }
  }
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    const api = client(a.url, a.key)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(client(b.url, b.key), dovecot, users)
    await expectHealth(api, 'healthy')

    await deliverDuring('together')
    await redis.stop()
    await expectHealth(api, 'degraded')
    await deliverDuring('without-redis')
    await expectEachAnnouncedOnce(application, subjects, 60_000)

    await redis.start()
    await expectHealth(api, 'healthy')
    await deliverDuring('again')
    await deliverDuring('restarted', async (index) => {
      if (index !== Math.floor(scenario.messages / 2)) return
      await redis.stop()
      await redis.start()
    })
    const counts = await expectEachAnnouncedOnce(application, subjects, 120_000)
    expect(a.output() + b.output()).not.toContain(redis.password)
    return counts
  } finally {
    await Promise.all([a.stop(), b.stop()])
    await application.close()
    await dovecot.stop()
  }
}

export function expectHealth(api: Client, status: string): Promise<void> {
  return eventually(async () => {
    const { data } = await api.call<Health>('GET', '/health')
    if (data.status !== status) throw new Error(`/health is not ${status}: ${JSON.stringify(data)}`)
  })
}
