import { setTimeout as sleep } from 'node:timers/promises'
import { connectMailboxes, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import { cpuMs, megabytes, readMemory } from './figures.ts'
import { withStage } from './stage.ts'

const COUNTS = [0, 200, 1000]
/**
 * V8 gives memory back about 30 seconds after the last activity. The first minute has the first poll of every account after it
 * connected, which reads all that the next ones need not read again; the second minute has a usual one.
 */
const SETTLE_MS = [10_000, 60_000, 60_000]

const LIMITS = 'limits: 100 MB without accounts, 250 kB for each, 5 % of a core with 1,000'

/**
 * Memory of the service with 0, 200 and 1,000 connected IMAP accounts, 10, 70 and 130 seconds after the last one
 * connected, and the CPU time in between: in each minute every account is polled once.
 */
export async function idle(say: (line: string) => void): Promise<void> {
  await withStage(async ({ dovecot, api, service }) => {
    const users = userNames(COUNTS.at(-1) ?? 0)
    let connected = 0
    const empty: number[] = []
    for (const count of COUNTS) {
      const added = users.slice(connected, count)
      for (const user of added) await dovecot.addUser(user, PASSWORD)
      const startedMs = performance.now()
      if (added.length > 0) await connectMailboxes(api, dovecot, added)
      const tookMs = performance.now() - startedMs
      connected = count
      say(`${String(count).padStart(4)} accounts${count === 0 ? '' : `, connected in ${(tookMs / 1000).toFixed(1)} s`}`)
      let settledMs = 0
      for (const [index, ms] of SETTLE_MS.entries()) {
        const cpuBefore = await cpuMs(service.pid)
        const startedAtMs = performance.now()
        await sleep(ms)
        const share = ((await cpuMs(service.pid)) - cpuBefore) / (performance.now() - startedAtMs)
        settledMs += ms
        const { resident, shared } = await readMemory(service.pid)
        if (count === 0) empty[index] = shared
        const each = count === 0 ? '' : ` · ${((shared - (empty[index] ?? 0)) / count / 1024).toFixed(0)} kB each`
        const cpu = `${(100 * share).toFixed(1)} % of a core until then`
        say(
          `       after ${settledMs / 1000} s   PSS ${megabytes(shared)}${each} · ${cpu}   (resident ${megabytes(resident)})`,
        )
      }
    }
    say(LIMITS)
  })
}
