import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type ServicePlace, SHARED_KEYS, startServiceProcess } from '../kit/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { RedisServerProcess } from '../servers/redis.ts'
import { type Books, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { type Client, client } from './client.ts'
import { connectMailboxes, numberedMail, PASSWORD, subscribe, userNames } from './mailboxes.ts'

export interface RedisStory {
  mailboxes: number
  /** Mails in each act. */
  mails: number
  paceMs: number
}

interface Health {
  data: { status: string; services: Record<string, boolean>; queue: { provider: string } }
}

/**
 * Two instances on PostgreSQL and Redis while mail arrives. Redis is stopped and stays away for an act, in which mail is
 * announced all the same, and comes back empty; then it is restarted in mid-act. Each mail is announced by exactly one event.
 */
export async function playRedisRestarts(
  place: ServicePlace,
  redis: RedisServerProcess,
  story: RedisStory,
): Promise<Books> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(story.mailboxes)
  const env = { ...SHARED_KEYS, ...place.env, REDIS_URL: redis.url }
  const a = await startServiceProcess({ ...place, env })
  const b = await startServiceProcess({ ...place, env })
  const subjects: string[] = []
  const deliverDuring = async (act: string, between?: (index: number) => Promise<void>) => {
    for (let index = 0; index < story.mails; index += 1) {
      const subject = `${act}-${index}`
      subjects.push(subject)
      await dovecot.deliver(users[index % users.length] ?? '', numberedMail(subject))
      await sleep(story.paceMs)
      await between?.(index)
    }
  }
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    const api = client(a.url, a.key)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(client(b.url, b.key), dovecot, users)
    await healthReads(api, 'healthy')

    await deliverDuring('together')
    await redis.stop()
    await healthReads(api, 'degraded')
    await deliverDuring('without')
    await expectEachAnnouncedOnce(application, subjects, 60_000)

    await redis.start()
    await healthReads(api, 'healthy')
    await deliverDuring('again')
    await deliverDuring('restarted', async (index) => {
      if (index !== Math.floor(story.mails / 2)) return
      await redis.stop()
      await redis.start()
    })
    const books = await expectEachAnnouncedOnce(application, subjects, 120_000)
    expect(a.output() + b.output()).not.toContain(redis.password)
    return books
  } finally {
    await Promise.all([a.stop(), b.stop()])
    await application.close()
    await dovecot.stop()
  }
}

export function healthReads(api: Client, status: string): Promise<void> {
  return eventually(async () => {
    const { data } = await api.call<Health>('GET', '/health')
    if (data.status !== status) throw new Error(`the health is ${JSON.stringify(data)}`)
  }, 30_000)
}
