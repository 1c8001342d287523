import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { numberedMessage } from '../test/scenarios/mailboxes.ts'
import type { Dovecot } from '../test/servers/dovecot.ts'
import { type Recorder, readSigned, tally } from './recorder.ts'

const PACE_MS = 500
const PATIENCE_MS = 30_000

export interface LiveMail {
  /** Ends the deliveries. Returns the most milliseconds from a delivery to its webhook. Throws unless each message has exactly one. */
  stop(): Promise<number>
}

/** Delivers two messages a second to the mailboxes in turn. `secret`: of the recorder's endpoint. */
export function startLiveMail(
  { dovecot, recorder, secret }: { dovecot: Dovecot; recorder: Recorder; secret: string },
  users: readonly string[],
  name: string,
): LiveMail {
  const deliveredAtMs = new Map<string, number>()
  let isStopped = false
  const deliver = async () => {
    for (let index = 0; !isStopped; index += 1) {
      const subject = `${name}-${index}`
      deliveredAtMs.set(subject, performance.timeOrigin + performance.now())
      await dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject))
      await sleep(PACE_MS)
    }
  }
  const delivering = deliver()
  delivering.catch(() => {})
  return {
    async stop() {
      isStopped = true
      await delivering
      await eventually(async () => (await recorder.count()) >= deliveredAtMs.size, PATIENCE_MS, 20)
      const requests = await recorder.take()
      const { arrivedAtMs, lost, repeated, twice, wrong } = tally(requests, [...deliveredAtMs.keys()], (request) =>
        readSigned(request, secret),
      )
      if (lost + repeated + twice + wrong > 0) {
        throw new Error(`lost ${lost}, repeated ${repeated}, twice ${twice}, wrong ${wrong} of ${deliveredAtMs.size}`)
      }
      return Math.max(...[...deliveredAtMs].map(([subject, atMs]) => (arrivedAtMs.get(subject) ?? Number.NaN) - atMs))
    },
  }
}
