import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../kit/random/random.ts'
import { type ServicePlace, startServiceProcess } from '../kit/service/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { type AnnouncementCounts, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe, userNames } from './mailboxes.ts'

export interface CrashScenario {
  messages: number
  mailboxes: number
  kills: number
  /** Pause between two messages. */
  paceMs: number
}

/**
 * Delivers messages to many mailboxes while the service is killed (SIGKILL) and restarted at random moments. Requires
 * exactly one event per message.
 */
export async function runCrashes(place: ServicePlace, scenario: CrashScenario): Promise<AnnouncementCounts> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(scenario.mailboxes)
  let service = await startServiceProcess(place)
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    const api = client(service.url, service.key)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, users)

    const subjects = Array.from({ length: scenario.messages }, (_, index) => `crash-${index}`)
    const killAt = killMoments(scenario)
    for (const [index, subject] of subjects.entries()) {
      await dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject))
      await sleep(scenario.paceMs)
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

/** One random message in each of equal parts of the run, so that the kills are spread over it. */
function killMoments({ messages, kills }: CrashScenario): Set<number> {
  const chance = random()
  const part = Math.floor(messages / kills)
  return new Set(Array.from({ length: kills }, (_, index) => index * part + Math.floor(chance() * part)))
}
