import { setTimeout as sleep } from 'node:timers/promises'
import { connectMailboxes, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import { megabytes, memoryOf } from './figures.ts'
import { withStage } from './stage.ts'

const COUNTS = [0, 200, 1000]
/** V8 gives memory back about 30 seconds after the last activity. */
const SETTLE_MS = [10_000, 50_000]

/** Memory of the service with 0, 200 and 1,000 connected IMAP accounts, 10 seconds and a minute after the last one connected. */
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
        await sleep(ms)
        settledMs += ms
        const { resident, shared } = await memoryOf(service.pid)
        if (count === 0) empty[index] = shared
        const each = count === 0 ? '' : ` · ${((shared - (empty[index] ?? 0)) / count / 1024).toFixed(0)} kB each`
        say(`       after ${settledMs / 1000} s   PSS ${megabytes(shared)}${each}   (resident ${megabytes(resident)})`)
      }
    }
  })
}
