import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import type { Application } from '../test/scenarios/application.ts'
import { numberedMessage } from '../test/scenarios/mailboxes.ts'
import type { Dovecot } from '../test/servers/dovecot.ts'

const PACE_MS = 200
/** Messages of each measurement, at least. */
const LIVE_MESSAGES = 150

export interface LiveMailbox {
  dovecot: Dovecot
  application: Application
  user: string
}

/**
 * Delivers five messages a second, at least `LIVE_MESSAGES` and as long as `goesOn`. Returns the milliseconds from delivery to webhook.
 * `name`: part of their subjects, which no other measurement has.
 */
export async function deliverLive(
  { dovecot, application, user }: LiveMailbox,
  name: string,
  goesOn: () => boolean | Promise<boolean>,
): Promise<number[]> {
  const sentAtMs = new Map<string, number>()
  const startMs = performance.now()
  for (let index = 0; index < LIVE_MESSAGES || (await goesOn()); index += 1) {
    sentAtMs.set(`${name}-${index}`, performance.now())
    await dovecot.deliver(user, numberedMessage(`${name}-${index}`))
    if (index < LIVE_MESSAGES) await goesOn()
    await sleep(Math.max(0, PACE_MS * (index + 1) - (performance.now() - startMs)))
  }
  const arrivals = () =>
    new Map([...application.received.values()].map(({ subject, firstAtMs }) => [subject, firstAtMs]))
  await eventually(() => [...sentAtMs.keys()].every((subject) => arrivals().has(subject)), 60_000)
  const arrivedAtMs = arrivals()
  return [...sentAtMs].map(([subject, atMs]) => (arrivedAtMs.get(subject) ?? Number.NaN) - atMs)
}
