import { setTimeout as sleep } from 'node:timers/promises'
import { type ServicePlace, SHARED_KEYS, startServiceProcess } from '../kit/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { type Books, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, numberedMail, PASSWORD, subscribe, userNames } from './mailboxes.ts'

export interface ReplicaStory {
  mailboxes: number
  /** Mails in each act. */
  mails: number
  paceMs: number
  /** How long B is stopped: past its heartbeat. */
  stoppedMs: number
}

/**
 * Two instances on one PostgreSQL while mail arrives. A is killed and started again; then B is stopped (SIGSTOP) until the
 * others must take it for dead, and resumed with its old ideas. Each mail is announced by exactly one event.
 */
export async function playReplicas(place: ServicePlace, story: ReplicaStory): Promise<Books> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(story.mailboxes)
  const env = { ...SHARED_KEYS, ...place.env }
  let a = await startServiceProcess({ ...place, env })
  const b = await startServiceProcess({ ...place, env })
  const subjects: string[] = []
  const deliverDuring = async (act: string, mails: number) => {
    for (let index = 0; index < mails; index += 1) {
      const subject = `${act}-${index}`
      subjects.push(subject)
      await dovecot.deliver(users[index % users.length] ?? '', numberedMail(subject))
      await sleep(story.paceMs)
    }
  }
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    await subscribe(client(a.url, a.key), application, ['message.received'])
    await connectMailboxes(client(b.url, b.key), dovecot, users)

    await deliverDuring('both', story.mails)
    await a.kill()
    await deliverDuring('b-alone', story.mails)
    a = await startServiceProcess({ ...place, port: a.port, env })
    await deliverDuring('a-again', story.mails)

    b.signal('SIGSTOP')
    const stoppedAtMs = performance.now()
    await deliverDuring('b-stopped', story.mails)
    await sleep(Math.max(0, story.stoppedMs - (performance.now() - stoppedAtMs)))
    b.signal('SIGCONT')
    await deliverDuring('b-resumed', story.mails)
    return await expectEachAnnouncedOnce(application, subjects, 180_000)
  } finally {
    b.signal('SIGCONT')
    await Promise.all([a.stop(), b.stop()])
    await application.close()
    await dovecot.stop()
  }
}
