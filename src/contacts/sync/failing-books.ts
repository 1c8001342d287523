import { type Backoff, backoffMs } from '../../platform/concurrency/retry.ts'
import { truncateText } from '../../platform/formats/text.ts'
import type { ProviderError } from '../../providers/contract/index.ts'
import { type BookRow, bookStore } from '../store.ts'
import { inTransaction } from './fenced.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'

type Owner = Pick<OwnedBooks, 'accountId' | 'epoch'>

/** Providers ask for pauses up to this. A longer one is from before the clock was set back. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000
const MAX_REASON = 500

/**
 * Address books that cannot be read. Each waits by itself, longer with each failure in a row and also after a restart, so that it stops
 * no other one of its account.
 */
export function failingBooks(deps: Pick<AccountBooksDeps, 'db' | 'clock' | 'fence'>, backoff: Backoff) {
  const { clock } = deps
  return {
    /** Whether it is not time to read the address book again. */
    isWaiting({ failures, retryAt }: BookRow): boolean {
      const leftMs = (retryAt ?? 0) - clock.now()
      return failures > 0 && leftMs > 0 && leftMs <= MAX_PAUSE_MS
    },

    /** Returns after how many failures it waits how long. */
    async recordFailure(owned: Owner, book: BookRow, error: ProviderError) {
      const failures = book.failures + 1
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(error.retryAfterMs ?? 0, backoffMs(failures, backoff)))
      const nowMs = clock.now()
      await inTransaction(deps, owned, (tx) =>
        bookStore(tx).update(book.id, {
          failures,
          failureReason: truncateText(describeFailure(error), MAX_REASON),
          failingSince: book.failingSince ?? nowMs,
          retryAt: nowMs + pauseMs,
        }),
      )
      return { failures, pauseMs }
    },

    /** For an address book that was read. */
    async recordSuccess(owned: Owner, book: BookRow): Promise<void> {
      if (book.failures === 0) return
      const none = { failures: 0, failureReason: null, failingSince: null, retryAt: null }
      await inTransaction(deps, owned, (tx) => bookStore(tx).update(book.id, none))
    },
  }
}

export type FailingBooks = ReturnType<typeof failingBooks>

/** A sentence for the operator. */
function describeFailure({ kind, message }: ProviderError): string {
  if (kind === 'not_found')
    return 'The provider lists this address book, but does not find it when its contacts are read.'
  return `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`
}
