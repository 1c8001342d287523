import { type Backoff, backoffMs } from '../../platform/concurrency/retry.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { truncateText } from '../../platform/formats/text.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderError } from '../../providers/contract/index.ts'
import type { Fence } from '../index.ts'

/** The columns of a collection that say since when it cannot be read, and until when it waits. */
interface FailureColumns {
  /** In a row. */
  failures: number
  failureReason: string | null
  failingSince: number | null
  retryAt: number | null
}

type Collection = FailureColumns & { id: string }

/** The account under the epoch of this instance. */
interface Owner {
  accountId: string
  epoch: number
}

/**
 * Collections that cannot be read. Each waits by itself, longer with each failure in a row and also after a restart, so that it stops no
 * other one of its account.
 */
export interface FailingCollections {
  /** Whether it is not time to read the collection again. */
  isWaiting(collection: Collection): boolean
  /** Returns after how many failures it waits how long. */
  recordFailure(
    owner: Owner,
    collection: Collection,
    error: ProviderError,
  ): Promise<{ failures: number; pauseMs: number }>
  /** For a collection that was read. */
  recordSuccess(owner: Owner, collection: Collection): Promise<void>
}

interface FailingDeps {
  db: Db
  clock: Clock
  fence: Fence
  /** Stores the columns of a collection. */
  update(tx: Tx, id: string, changes: FailureColumns): Promise<unknown>
  /** The sentence for the operator about a collection that the provider lists, and does not find. */
  notFoundReason: string
}

/** Providers ask for pauses up to this. A longer one is from before the clock was set back. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000
const MAX_REASON = 500

export function failingCollections(
  { db, clock, fence, update, notFoundReason }: FailingDeps,
  backoff: Backoff,
): FailingCollections {
  async function save({ accountId, epoch }: Owner, { id }: Collection, changes: FailureColumns): Promise<void> {
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      await update(tx, id, changes)
    })
  }

  return {
    isWaiting({ failures, retryAt }) {
      const leftMs = (retryAt ?? 0) - clock.now()
      return failures > 0 && leftMs > 0 && leftMs <= MAX_PAUSE_MS
    },

    async recordFailure(owner, collection, error) {
      const failures = collection.failures + 1
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(error.retryAfterMs ?? 0, backoffMs(failures, backoff)))
      const nowMs = clock.now()
      const reason = error.kind === 'not_found' ? notFoundReason : sentence(error.message)
      await save(owner, collection, {
        failures,
        failureReason: truncateText(reason, MAX_REASON),
        failingSince: collection.failingSince ?? nowMs,
        retryAt: nowMs + pauseMs,
      })
      return { failures, pauseMs }
    },

    async recordSuccess(owner, collection) {
      if (collection.failures === 0) return
      await save(owner, collection, { failures: 0, failureReason: null, failingSince: null, retryAt: null })
    },
  }
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`
}
