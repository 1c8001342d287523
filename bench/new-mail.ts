import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe } from '../test/scenarios/mailboxes.ts'
import { listenBare } from './bare-listener.ts'
import { spread } from './figures.ts'
import { withStage } from './stage.ts'

const MESSAGES = 300
const PACE_MS = 200
const USER = 'bench@mail.example'

/**
 * Delivers 5 messages per second to one mailbox. Measures the time from a bare imapflow client's IDLE notification to the
 * arrival of the signed webhook. That client does not fetch, store, sign or send. A second bare client fetches each header,
 * which shows how much of the difference comes from Dovecot's 500 ms notification interval.
 */
export async function newMail(say: (line: string) => void): Promise<void> {
  await withStage(async ({ dovecot, application, api, service }) => {
    await dovecot.addUser(USER, PASSWORD)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, [USER])

    const listening = await listenBare(dovecot, USER, PASSWORD, false)
    const fetching = await listenBare(dovecot, USER, PASSWORD, true)

    const { notifiedAtMs } = listening
    const { fetchedAtMs } = fetching
    const sentAtMs: number[] = []
    for (let index = 0; index < MESSAGES; index += 1) {
      sentAtMs.push(performance.now())
      await dovecot.deliver(USER, numberedMessage(`bench-${index}`))
      await sleep(Math.max(0, PACE_MS * (index + 1) - (performance.now() - (sentAtMs[0] ?? 0))))
    }
    await eventually(
      () => application.received.size >= MESSAGES && Math.min(notifiedAtMs.length, fetchedAtMs.length) >= MESSAGES,
      60_000,
    )
    await Promise.all([listening.close(), fetching.close()])

    const arrivals = new Map([...application.received.values()].map((event) => [event.subject, event.firstAtMs]))
    const arrivedAtMs = sentAtMs.map((_, index) => arrivals.get(`bench-${index}`) ?? Number.NaN)
    say(`bare, delivery to IDLE notification      ${spread(after(sentAtMs, notifiedAtMs))}`)
    say(`bare that fetches, delivery to header    ${spread(after(sentAtMs, fetchedAtMs))}`)
    say(`posthorn, delivery to signed webhook     ${spread(after(sentAtMs, arrivedAtMs))}`)
    say(`bare that fetches, after notification    ${spread(after(notifiedAtMs, fetchedAtMs))}`)
    say(`posthorn, after bare notification        ${spread(after(notifiedAtMs, arrivedAtMs))}`)
    say(`slow statements (over 20 ms)             ${slowStatements(service.output())}`)
  })
}

function after(from: readonly number[], to: readonly number[]): number[] {
  return Array.from({ length: MESSAGES }, (_, index) => (to[index] ?? Number.NaN) - (from[index] ?? Number.NaN))
}

export function slowStatements(output: string): number {
  return output.split('\n').filter((line) => line.includes('db.slow')).length
}
