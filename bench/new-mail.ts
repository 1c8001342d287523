import { setTimeout as sleep } from 'node:timers/promises'
import { ImapFlow } from 'imapflow'
import { eventually } from '../test/kit/eventually.ts'
import { connectMailboxes, numberedMail, PASSWORD, subscribe } from '../test/scenarios/mailboxes.ts'
import { spread } from './figures.ts'
import { withStage } from './stage.ts'

const MAILS = 300
const PACE_MS = 200
const USER = 'bench@mail.example'

/**
 * Mail at 5/s to one mailbox: how long after a bare imapflow client's own IDLE notice of the same message the signed
 * webhook has reached the application. The bare client only listens: it does not fetch, store, sign or send.
 */
export async function newMail(say: (line: string) => void): Promise<void> {
  await withStage(async ({ dovecot, application, api, service }) => {
    await dovecot.addUser(USER, PASSWORD)
    await subscribe(api, application, ['message.received'])
    await connectMailboxes(api, dovecot, [USER])

    const noticedAtMs: number[] = []
    const bare = new ImapFlow({
      host: dovecot.host,
      port: dovecot.imapsPort,
      secure: true,
      tls: { rejectUnauthorized: false },
      auth: { user: USER, pass: PASSWORD },
      logger: false,
      disableAutoIdle: true,
    })
    bare.on('error', () => {})
    await bare.connect()
    await bare.mailboxOpen('INBOX')
    bare.on('exists', ({ count, prevCount }) => {
      for (let number = prevCount; number < count; number += 1) noticedAtMs[number] = performance.now()
    })
    const idling = idleUntilClosed(bare)

    const sentAtMs: number[] = []
    for (let index = 0; index < MAILS; index += 1) {
      sentAtMs.push(performance.now())
      await dovecot.deliver(USER, numberedMail(`bench-${index}`))
      await sleep(Math.max(0, PACE_MS * (index + 1) - (performance.now() - (sentAtMs[0] ?? 0))))
    }
    await eventually(() => application.seen.size >= MAILS && noticedAtMs.length >= MAILS, 60_000)
    bare.close()
    await idling

    const arrivals = new Map([...application.seen.values()].map((sighting) => [sighting.subject, sighting.firstAtMs]))
    const arrivedAtMs = (index: number) => arrivals.get(`bench-${index}`) ?? Number.NaN
    say(
      `bare imapflow, delivery to IDLE notice   ${spread(sentAtMs.map((sent, index) => (noticedAtMs[index] ?? Number.NaN) - sent))}`,
    )
    say(`posthorn, delivery to webhook            ${spread(sentAtMs.map((sent, index) => arrivedAtMs(index) - sent))}`)
    say(
      `overhead over the bare notice            ${spread(sentAtMs.map((_, index) => arrivedAtMs(index) - (noticedAtMs[index] ?? Number.NaN)))}`,
    )
    say(`slow statements (over 20 ms)             ${slowStatements(service.output())}`)
  })
}

/** imapflow waits 15 s before it idles by itself; called directly it idles at once, and again after each notice. */
async function idleUntilClosed(client: ImapFlow): Promise<void> {
  while (client.usable) await client.idle().catch(() => false)
}

export function slowStatements(output: string): number {
  return output.split('\n').filter((line) => line.includes('db.slow')).length
}
