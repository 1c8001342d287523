import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { ServiceProcess } from '../kit/service/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { startFaultLoad } from './fault-load.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe } from './mailboxes.ts'

/** A fault that begins and ends while the service works. */
export interface Fault {
  name: string
  begin(service: ServiceProcess): Promise<void>
  end(service: ServiceProcess): Promise<void>
  /** The cause as each 503 and 504 states it. */
  says: RegExp
  /** False when requests go on as before, at least with this fault alone. */
  fails: boolean
  /** Connections may be refused or reset, because there is no way to respond. */
  mayReset?: boolean
}

export interface FaultOutcome {
  name: string
  responses: Record<string, number>
  messages: string[]
  /** From the end of the fault to a read and a write that succeed, and to a message that arrived after it. */
  recoveredMs: number
  announcedMs: number
}

const USER = 'ada@mail.example'
const RECOVERY_MS = 10_000
const ANNOUNCED_MS = 120_000

/**
 * Lets messages arrive and requests read and write through every fault. Requires that no status of 500 or above appears but 503 and 504
 * that name the cause, that the process lives, that it works again within ten seconds, and that nothing is lost: each acknowledged
 * write is stored, and each message is announced once.
 */
export async function runFaults(
  start: () => Promise<ServiceProcess>,
  faults: readonly Fault[],
  { lastsMs, verifies = true }: { lastsMs: number; verifies?: boolean },
): Promise<FaultOutcome[]> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication({ verifies })])
  const service = await start()
  const api = client(service.url, service.key)
  const subjects: string[] = []
  const deliver = async (subject: string) => {
    subjects.push(subject)
    await dovecot.deliver(USER, numberedMessage(subject))
  }
  const announced = (subject: string) =>
    eventually(
      () => expect([...application.received.values()].map((event) => event.subject)).toContain(subject),
      ANNOUNCED_MS,
    )
  const outcomes: FaultOutcome[] = []
  try {
    await dovecot.addUser(USER, PASSWORD)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, [USER])
    const load = startFaultLoad(service.url, service.key)
    await deliver('before')
    await announced('before')
    for (const fault of faults) {
      load.take()
      await fault.begin(service)
      await deliver(`${fault.name}, begun`)
      await sleep(lastsMs)
      await deliver(`${fault.name}, ending`)
      const answers = load.take()
      await fault.end(service)
      const endedMs = performance.now()
      const recoveredMs = await load.recovered()
      await deliver(`${fault.name}, over`)
      await announced(`${fault.name}, over`)
      const announcedMs = Math.round(performance.now() - endedMs)
      answers.push(...load.take())
      outcomes.push({ ...judged(fault, answers), recoveredMs, announcedMs })
      expect(recoveredMs, `${fault.name}: recovery`).toBeLessThan(RECOVERY_MS)
    }
    await load.stop()
    await expectEachAnnouncedOnce(application, subjects, ANNOUNCED_MS)
    expect(await load.expectNothingLost()).toBeGreaterThan(faults.length)
    expect(await service.stop()).toBe(0)
    return outcomes
  } catch (error) {
    throw new Error(`${JSON.stringify(outcomes)}\n${service.output().slice(-4000)}`, { cause: error })
  } finally {
    await service.kill()
    await application.close()
    await dovecot.stop()
  }
}

function judged(fault: Fault, answers: ReturnType<ReturnType<typeof startFaultLoad>['take']>) {
  const responses: Record<string, number> = {}
  const messages = new Set<string>()
  for (const { request, status, message } of answers) {
    const shown = String(status ?? 'none')
    responses[shown] = (responses[shown] ?? 0) + 1
    if (status === undefined)
      expect([fault.name, request, message, fault.mayReset]).toEqual([fault.name, request, message, true])
    if (status === undefined || status < 500) continue
    messages.add(message)
    expect([fault.name, request, [503, 504].includes(status), message]).toEqual([fault.name, request, true, message])
    expect(message, `${fault.name}: ${request}`).toMatch(fault.says)
  }
  if (fault.fails) expect(messages.size, `${fault.name} made requests fail`).toBeGreaterThan(0)
  return { name: fault.name, responses, messages: [...messages] }
}
