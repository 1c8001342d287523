import { setTimeout as sleep } from 'node:timers/promises'
import { type ServicePlace, SHARED_KEYS, startServiceProcess } from '../kit/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { type AnnouncementCounts, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe, userNames } from './mailboxes.ts'

export interface ReplicaScenario {
  mailboxes: number
  /** Per phase. */
  messages: number
  paceMs: number
  /** How long B is suspended. Must exceed the heartbeat timeout. */
  stoppedMs: number
}

/**
 * Delivers messages to two instances on one PostgreSQL. A is killed and restarted. Then B is suspended (SIGSTOP) until A
 * considers it dead, and resumed with its outdated state. Requires exactly one event per message.
 */
export async function runReplicas(place: ServicePlace, scenario: ReplicaScenario): Promise<AnnouncementCounts> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(scenario.mailboxes)
  const env = { ...SHARED_KEYS, ...place.env }
  let a = await startServiceProcess({ ...place, env })
  const b = await startServiceProcess({ ...place, env })
  const subjects: string[] = []
  const deliverDuring = async (phase: string, messages: number) => {
    for (let index = 0; index < messages; index += 1) {
      const subject = `${phase}-${index}`
      subjects.push(subject)
      await dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject))
      await sleep(scenario.paceMs)
    }
  }
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    await subscribe(client(a.url, a.key), application, ['message.received'])
    await connectMailboxes(client(b.url, b.key), dovecot, users)

    await deliverDuring('both', scenario.messages)
    await a.kill()
    await deliverDuring('b-alone', scenario.messages)
    a = await startServiceProcess({ ...place, port: a.port, env })
    await deliverDuring('a-again', scenario.messages)

    b.signal('SIGSTOP')
    const stoppedAtMs = performance.now()
    await deliverDuring('b-stopped', scenario.messages)
    await sleep(Math.max(0, scenario.stoppedMs - (performance.now() - stoppedAtMs)))
    b.signal('SIGCONT')
    await deliverDuring('b-resumed', scenario.messages)
    return await expectEachAnnouncedOnce(application, subjects, 180_000)
  } finally {
    b.signal('SIGCONT')
    await Promise.all([a.stop(), b.stop()])
    await application.close()
    await dovecot.stop()
  }
}
