import { setTimeout as sleep } from 'node:timers/promises'
import { type ServicePlace, startServiceProcess } from '../kit/process.ts'
import { random } from '../kit/random.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { type Books, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, numberedMail, PASSWORD, subscribe, userNames } from './mailboxes.ts'

export interface CrashStory {
  mails: number
  mailboxes: number
  kills: number
  /** Between two mails. */
  paceMs: number
}

/**
 * Mail arrives at many mailboxes while the service is killed (SIGKILL) and started again, at moments that chance picks.
 * Afterwards each mail was announced by exactly one event.
 */
export async function playCrashes(place: ServicePlace, story: CrashStory): Promise<Books> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(story.mailboxes)
  let service = await startServiceProcess(place)
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    const api = client(service.url, service.key)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, users)

    const subjects = Array.from({ length: story.mails }, (_, index) => `crash-${index}`)
    const killAt = killMoments(story)
    for (const [index, subject] of subjects.entries()) {
      await dovecot.deliver(users[index % users.length] ?? '', numberedMail(subject))
      await sleep(story.paceMs)
      if (!killAt.has(index)) continue
      await service.kill()
      service = await startServiceProcess({ ...place, port: service.port })
    }
    return await expectEachAnnouncedOnce(application, subjects, 120_000)
  } finally {
    await service.stop()
    await application.close()
    await dovecot.stop()
  }
}

/** One random mail in each of equal parts of the run, so that the kills neither bunch up nor miss the busy time. */
function killMoments({ mails, kills }: CrashStory): Set<number> {
  const chance = random()
  const part = Math.floor(mails / kills)
  return new Set(Array.from({ length: kills }, (_, index) => index * part + Math.floor(chance() * part)))
}
