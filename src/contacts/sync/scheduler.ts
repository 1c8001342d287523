import { type Ownership, readSyncHint, SYNC_TOPIC } from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import { OwnedScheduler, type RunContext, type RunResult } from '../../platform/schedule/index.ts'
import { CONTACTS_TOPIC } from '../topic.ts'
import { failingBooks } from './failing-books.ts'
import { type ContactTiming, type RunDeps, runAccount } from './run.ts'

interface ContactSyncDeps extends Omit<RunDeps, 'timing' | 'failing'> {
  bus: Bus
  ownership: Ownership
  timing?: Partial<ContactTiming>
}

const DEFAULT_TIMING: ContactTiming = {
  concurrency: 10,
  pollMs: 5 * 60_000,
  searchMs: 6 * 60 * 60_000,
  retry: { baseMs: 30_000, capMs: 30 * 60_000 },
}
/** Runs in progress get this long to finish. An aborted run continues at its cursor. */
const MAX_GRACE_MS = 2000

/** Runs beside the sync of messages and calendars: none of them waits for another. Every account is polled. */
export function contactSync(deps: ContactSyncDeps) {
  const { ownership, bus, clock, log } = deps
  const timing = { ...DEFAULT_TIMING, ...deps.timing }
  const { concurrency, retry } = timing
  const runDeps: RunDeps = { ...deps, timing, failing: failingBooks(deps, retry) }
  const scheduler = new OwnedScheduler({ clock, log, operation: 'sync.contacts', concurrency, backoff: retry, run })
  /** Accounts whose failing address books are read in the next run. */
  const retried = new Set<string>()
  let unsubscribe = () => {}
  let stopped = false

  async function run(accountId: string, { signal, failures }: RunContext): Promise<RunResult> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped || ownership.isPaused(accountId)) return {}
    const isRetried = retried.delete(accountId)
    return runAccount(runDeps, { accountId, epoch, isRetried, signal, failures })
  }

  function remove(accountId: string): void {
    scheduler.remove(accountId)
    retried.delete(accountId)
  }

  function onSyncHint(payload: string | undefined): void {
    if (payload === undefined) return
    const { scope, accountIds } = readSyncHint(payload)
    // The other hints are about messages and calendars.
    if (scope !== 'now') return
    for (const id of accountIds) {
      if (!scheduler.has(id)) continue
      retried.add(id)
      scheduler.request(id)
    }
  }

  return {
    /** Starts syncing the contacts of the accounts that this process owns. Call it before `ownership.start()`. */
    start(): void {
      ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) remove(accountId)
        if (stopped) return
        for (const accountId of changed) retried.add(accountId)
        for (const accountId of [...gained, ...changed]) scheduler.add(accountId, ownership.mailHost(accountId))
      })
      const unsubscribes = [
        bus.subscribe(SYNC_TOPIC, onSyncHint),
        bus.subscribe(CONTACTS_TOPIC, (accountId) => {
          if (accountId !== undefined && scheduler.has(accountId)) scheduler.request(accountId)
        }),
      ]
      unsubscribe = () => {
        for (const end of unsubscribes) end()
      }
    },

    /** Call it before `ownership.stop()`. */
    async stop(graceMs: number): Promise<void> {
      stopped = true
      unsubscribe()
      await scheduler.stop(Math.min(graceMs, MAX_GRACE_MS))
    },
  }
}
