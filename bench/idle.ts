import { setTimeout as sleep } from 'node:timers/promises'
import { connectMailboxes, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import { megabytes } from './figures.ts'
import { withStage } from './stage.ts'

const COUNTS = [0, 100, 500]
const SETTLE_MS = 10_000

/** Resident memory of the service with 0, 100 and 500 idle accounts. */
export async function idle(say: (line: string) => void): Promise<void> {
  await withStage(async ({ dovecot, api, service }) => {
    const users = userNames(COUNTS.at(-1) ?? 0)
    let connected = 0
    let emptyBytes = 0
    for (const count of COUNTS) {
      const added = users.slice(connected, count)
      for (const user of added) await dovecot.addUser(user, PASSWORD)
      const startedMs = performance.now()
      if (added.length > 0) await connectMailboxes(api, dovecot, added)
      const tookMs = performance.now() - startedMs
      connected = count
      await sleep(SETTLE_MS)
      const bytes = await service.memoryBytes()
      if (count === 0) emptyBytes = bytes
      const each =
        count === 0
          ? ''
          : `  ${((bytes - emptyBytes) / count / 1024).toFixed(0)} kB each, connected in ${(tookMs / 1000).toFixed(1)} s`
      say(`${String(count).padStart(4)} accounts   ${megabytes(bytes)}${each}`)
    }
  })
}
