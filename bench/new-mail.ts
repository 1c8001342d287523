import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { connectMailboxes, numberedMail, PASSWORD, subscribe } from '../test/scenarios/mailboxes.ts'
import { listenBare } from './bare-listener.ts'
import { spread } from './figures.ts'
import { withStage } from './stage.ts'

const MAILS = 300
const PACE_MS = 200
const USER = 'bench@mail.example'

/**
 * Mail at 5/s to one mailbox: how long after a bare imapflow client's own IDLE notice of the same message the signed
 * webhook has reached the application. That client only listens: it does not fetch, store, sign or send. Dovecot tells a
 * connection of changes at most every 500 ms, each connection in a phase of its own; a second bare client, which fetches what it
 * is told of, shows how much of a difference is that phase.
 */
export async function newMail(say: (line: string) => void): Promise<void> {
  await withStage(async ({ dovecot, application, api, service }) => {
    await dovecot.addUser(USER, PASSWORD)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, [USER])

    const listening = await listenBare(dovecot, USER, PASSWORD, false)
    const fetching = await listenBare(dovecot, USER, PASSWORD, true)

    const { noticedAtMs } = listening
    const { fetchedAtMs } = fetching
    const sentAtMs: number[] = []
    for (let index = 0; index < MAILS; index += 1) {
      sentAtMs.push(performance.now())
      await dovecot.deliver(USER, numberedMail(`bench-${index}`))
      await sleep(Math.max(0, PACE_MS * (index + 1) - (performance.now() - (sentAtMs[0] ?? 0))))
    }
    await eventually(
      () => application.seen.size >= MAILS && Math.min(noticedAtMs.length, fetchedAtMs.length) >= MAILS,
      60_000,
    )
    await Promise.all([listening.close(), fetching.close()])

    const arrivals = new Map([...application.seen.values()].map((sighting) => [sighting.subject, sighting.firstAtMs]))
    const arrivedAtMs = sentAtMs.map((_, index) => arrivals.get(`bench-${index}`) ?? Number.NaN)
    say(`bare, delivery to IDLE notice            ${spread(after(sentAtMs, noticedAtMs))}`)
    say(`bare that fetches, delivery to header    ${spread(after(sentAtMs, fetchedAtMs))}`)
    say(`posthorn, delivery to signed webhook     ${spread(after(sentAtMs, arrivedAtMs))}`)
    say(`bare that fetches, over the bare notice  ${spread(after(noticedAtMs, fetchedAtMs))}`)
    say(`posthorn, over the bare notice           ${spread(after(noticedAtMs, arrivedAtMs))}`)
    say(`slow statements (over 20 ms)             ${slowStatements(service.output())}`)
  })
}

function after(from: readonly number[], to: readonly number[]): number[] {
  return Array.from({ length: MAILS }, (_, index) => (to[index] ?? Number.NaN) - (from[index] ?? Number.NaN))
}

export function slowStatements(output: string): number {
  return output.split('\n').filter((line) => line.includes('db.slow')).length
}
