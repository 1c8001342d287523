import type { Tx } from '../../infra/db/index.ts'
import type { Lanes as Queue, Worker } from '../../infra/lanes/index.ts'
import { AppError } from '../../lib/errors.ts'
import { backoffMs } from '../../lib/retry.ts'
import { ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import { type Ownership, OwnershipLost, ownersOf } from '../accounts/index.ts'
import { type PushWay, type SubscriberDeps, subscriber } from './subscriber.ts'

/** How each provider tells of changes; what is missing is polled. */
export type PushWays = {
  readonly [Name in ProviderName]?: PushWay & {
    /** Whether what is told is heard. */
    isHeard(): boolean
  }
}

export interface PushDeps extends Omit<SubscriberDeps, 'way'> {
  queue: Queue
  ownership: Ownership
  ways: PushWays
}

export interface Push {
  /** Looks after the subscriptions of the accounts this process owns from now on. Call it before `ownership.start()`. */
  start(): void
  /** Call it before `ownership.stop()`. */
  stop(graceMs: number): Promise<void>
  /** Whether the provider tells of changes of this account, which this process owns. */
  isPushed(accountId: string): boolean
  /** The way of a provider opened or closed: its accounts are looked after, and looked at, again. */
  wayChanged(): void
  /** Has the owners of these accounts look after their subscriptions, taking effect with the commit. */
  tendSoon(tx: Tx, accountIds: readonly string[]): Promise<void>
  /** Of a deleted account; see `Subscriber.forget`. */
  forget(accountId: string): Promise<void>
}

const CONCURRENCY = 8
/**
 * What the provider refuses may be put right there, by people, in an hour or a day; or it did not reach our address, while the
 * service had just begun.
 */
const REFUSED = { baseMs: 60_000, capMs: 60 * 60 * 1000 }
/** No timer is trusted for days. */
const LONGEST_MS = 60 * 60 * 1000

/** One queue lane per process, as sync has one; a subscription is the business of its account's owner. */
export function push(deps: PushDeps): Push {
  const { db, queue, ownership, clock, log } = deps
  const lane = pushLane(ownership.instanceId)
  const keeper = subscriber({ ...deps, way: (provider) => deps.ways[provider] })
  /** Of accounts that are owned here. */
  const standing = new Map<string, { provider: ProviderName; until: number }>()
  /** Times in a row that the provider refused. */
  const refusals = new Map<string, number>()
  let worker: Worker | undefined
  let stopped = false

  function isPushed(accountId: string): boolean {
    const found = standing.get(accountId)
    return found !== undefined && found.until > clock.now() && deps.ways[found.provider]?.isHeard() === true
  }

  async function run(accountId: string): Promise<undefined | { nextRunInMs: number }> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped) {
      standing.delete(accountId)
      return undefined
    }
    try {
      const kept = await keeper.keep(accountId, epoch)
      if (kept === undefined) return await left(accountId)
      refusals.delete(accountId)
      standing.set(accountId, { provider: kept.provider, until: kept.expiresAt })
      return { nextRunInMs: Math.max(1000, Math.min(kept.renewAt - clock.now(), LONGEST_MS)) }
    } catch (error) {
      return await failed(accountId, error)
    }
  }

  /** No more pushed: it was to be looked at in many minutes, and is now asked as often as any other. */
  async function left(accountId: string): Promise<undefined> {
    if (standing.delete(accountId)) await db.transaction((tx) => deps.lookSoon(tx, [accountId]))
  }

  async function failed(accountId: string, error: unknown) {
    if (error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')) {
      standing.delete(accountId)
      return undefined
    }
    if (!(error instanceof ProviderError)) throw error
    // Sync tells of refused credentials; new ones announce themselves.
    if (error.kind === 'auth_expired') return left(accountId)
    if (error.kind === 'rejected' || error.kind === 'not_found') {
      await left(accountId)
      log.warn('The provider does not tell of changes; the mailbox is polled', {
        ...{ accountId, operation: 'push.subscribe', error },
      })
      const times = (refusals.get(accountId) ?? 0) + 1
      refusals.set(accountId, times)
      return { nextRunInMs: backoffMs(times, REFUSED) }
    }
    // What stands, stands until it runs out.
    if (!isPushed(accountId)) await left(accountId)
    // A pause of nothing is none: a date that has passed here already is one too, when clocks differ.
    const { retryAfterMs = 0 } = error
    if (retryAfterMs === 0) throw error
    return { nextRunInMs: retryAfterMs * (1 + 0.2 * Math.random()) }
  }

  function add(accountIds: Iterable<string>): void {
    for (const accountId of accountIds) {
      queue.add(lane, accountId).catch((error: unknown) => {
        log.error('A subscription could not be put into the queue', { accountId, operation: 'push.add', error })
      })
    }
  }

  return {
    isPushed,
    forget: (accountId) => keeper.forget(accountId),

    start() {
      ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) {
          standing.delete(accountId)
          refusals.delete(accountId)
          queue.remove(lane, accountId).catch(() => {
            // A job without an owned account ends at once by itself.
          })
        }
        if (!stopped) add([...gained, ...changed])
      })
      worker = queue.work(lane, { concurrency: CONCURRENCY }, run)
      add(ownership.owned().keys())
    },

    wayChanged() {
      if (stopped) return
      add(ownership.owned().keys())
      const affected = [...standing.keys()]
      db.transaction((tx) => deps.lookSoon(tx, affected)).catch((error: unknown) => {
        log.warn('Accounts could not be asked to be looked at', { operation: 'push.change', error })
      })
    },

    async tendSoon(tx, accountIds) {
      for (const [instance, owned] of await ownersOf(tx, accountIds)) await queue.addIn(tx, pushLane(instance), owned)
    },

    async stop(graceMs) {
      stopped = true
      await worker?.stop(graceMs)
      worker = undefined
      await queue.dropLane(lane).catch((error: unknown) => {
        log.warn('The push queue of this instance could not be given up', { operation: 'push.stop', error })
      })
    },
  }
}

/** The lane of one process. */
export function pushLane(instanceId: string): string {
  return `push:${instanceId}`
}
