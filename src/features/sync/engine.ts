import type { Bus } from '../../infra/bus/index.ts'
import type { Tx } from '../../infra/db/index.ts'
import type { Lanes as Queue, Worker } from '../../infra/lanes/index.ts'
import { ownersOf } from '../accounts/index.ts'
import { AccountSync } from './account-sync.ts'
import { DEFAULT_TIMING, type SyncDeps, syncLane } from './deps.ts'
import { hosts } from './hosts.ts'
import { strayLanes } from './stray-lanes.ts'

export interface Sync {
  /** Works on the accounts this process owns from now on. Call it before `ownership.start()`. */
  start(): void
  /** Ends every session; runs under way get `graceMs` to finish. Call it before `ownership.stop()`. */
  stop(graceMs: number): Promise<void>
}

/** Keeps the messages of the owned accounts in step with their mailboxes. */
export function sync(deps: SyncDeps): Sync {
  const lane = syncLane(deps.ownership.instanceId)
  const { concurrency, perHostShare } = { ...DEFAULT_TIMING, ...deps.timing }
  const perHost = hosts(deps.clock, Math.max(1, Math.floor(concurrency * perHostShare)))
  const strays = strayLanes({ ...deps, instanceId: deps.ownership.instanceId })
  const working = new Map<string, AccountSync>()
  let worker: Worker | undefined
  let unsubscribe = () => {}
  let stopped = false

  function add(accountId: string): void {
    deps.queue.add(lane, accountId).catch((error: unknown) => {
      deps.log.error('An account could not be put into the queue', { accountId, operation: 'sync.add', error })
    })
  }

  /** What was cleared before this process let its hosts be tried may have been put off by it again. */
  function retryAll(): void {
    perHost.reopen()
    for (const account of working.values()) account.retry()
    deps.queue.clear(lane).catch((error: unknown) => {
      deps.log.warn('Accounts that wait could not be retried at once', { operation: 'sync.retry', error })
    })
  }

  function addAll(): void {
    for (const accountId of deps.ownership.owned().keys()) add(accountId)
  }

  async function drop(accountId: string): Promise<void> {
    const account = working.get(accountId)
    working.delete(accountId)
    await account?.close()
  }

  async function run(accountId: string, signal: AbortSignal) {
    const epoch = deps.ownership.owned().get(accountId)
    if (epoch === undefined || stopped) {
      await drop(accountId)
      return undefined
    }
    let account = working.get(accountId)
    if (account !== undefined && account.epoch !== epoch) {
      await drop(accountId)
      account = undefined
    }
    account ??= new AccountSync(deps, perHost, accountId, epoch)
    working.set(accountId, account)
    return account.run(signal)
  }

  return {
    start() {
      deps.ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) {
          void drop(accountId)
          deps.queue.remove(lane, accountId).catch(() => {
            // A job without an owned account ends at once by itself.
          })
        }
        if (stopped) return
        for (const accountId of changed) working.get(accountId)?.accountChanged()
        for (const accountId of [...gained, ...changed]) add(accountId)
      })
      const stopWaking = deps.bus.subscribe(WAKE_TOPIC, (accountId) => {
        // Hints were lost, and with Redis perhaps the jobs themselves.
        if (accountId === undefined) {
          void strays.sweep()
          return addAll()
        }
        if (!deps.ownership.owned().has(accountId)) return
        working.get(accountId)?.lookEverywhere()
        add(accountId)
      })
      const stopRetrying = deps.bus.subscribe(RETRY_TOPIC, retryAll)
      unsubscribe = () => {
        stopWaking()
        stopRetrying()
      }
      worker = deps.queue.work(lane, { concurrency }, (accountId, { signal }) => run(accountId, signal))
      addAll()
      void strays.sweep()
    },

    async stop(graceMs) {
      stopped = true
      unsubscribe()
      await Promise.all([worker?.stop(graceMs), strays.stop()])
      await Promise.all([...working.keys()].map(drop))
      await deps.queue.dropLane(lane).catch((error: unknown) => {
        // Another instance finds it, or the next start of this service.
        deps.log.warn('The sync queue of this instance could not be given up', { operation: 'sync.stop', error })
      })
    },
  }
}

/** The bus topic on which an account is asked to be looked at; the payload is its id. */
const WAKE_TOPIC = 'sync.wake'

/** The bus topic on which every process gives its accounts a fresh try. */
export const RETRY_TOPIC = 'sync.retry'

/** Makes the owner of an account look for mail now, whichever process that is; takes effect with the commit. */
export function wakeAccount(bus: Bus): (tx: Tx, accountId: string) => Promise<void> {
  return async (tx, accountId) => tx.afterCommit(() => bus.publish(WAKE_TOPIC, accountId))
}

/**
 * Has the owners of these accounts ask for changes, whichever processes those are. It stands in their queues with the commit and
 * is not lost with a process; asked for again before it was done, it is done once.
 */
export function lookSoon(queue: Queue): (tx: Tx, accountIds: readonly string[]) => Promise<void> {
  return async (tx, accountIds) => {
    for (const [instance, owned] of await ownersOf(tx, accountIds)) await queue.addIn(tx, syncLane(instance), owned)
  }
}
