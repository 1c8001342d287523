import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderError, ProviderName, UnreadableContact } from '../../providers/contract/index.ts'
import type { BookRow } from '../store.ts'
import type { ContactCounts } from './apply.ts'

/** Unreadable contacts of one transaction that are logged one by one. */
const MAX_REPORTED = 5

/** The log entries of one run of one account: what changed, and what failed. Names of people are not logged. */
export class RunLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #accountId: string
  readonly #startedAt: number
  readonly #changed = { added: 0, updated: 0, deleted: 0 }
  /** Undefined until the account was read. */
  provider: ProviderName | undefined

  constructor({ log, clock }: { log: Log; clock: Clock }, accountId: string) {
    this.#log = log
    this.#clock = clock
    this.#accountId = accountId
    this.#startedAt = clock.monotonic()
  }

  add({ added, updated, deleted }: ContactCounts): void {
    this.#changed.added += added
    this.#changed.updated += updated
    this.#changed.deleted += deleted
  }

  /** A run that found no change writes nothing. */
  succeeded(): void {
    const { added, updated, deleted } = this.#changed
    if (added + updated + deleted === 0) return
    this.#log.info(`Synced contacts: ${added} added, ${updated} updated, ${deleted} deleted.`, {
      ...this.#about,
      metadata: this.#changed,
    })
  }

  failed(error: ProviderError, { attempts, nextRunInMs }: { attempts: number; nextRunInMs: number }): void {
    const level = attempts === 1 ? 'warn' : 'info'
    const waitS = Math.ceil(nextRunInMs / 1000)
    this.#log[level](`Cannot sync the contacts of the account (${error.message}); trying again in ${waitS} s.`, {
      ...this.#about,
      error,
      metadata: { attempts, nextRunInMs, kind: error.kind, ...this.#changed },
    })
  }

  bookFailed(
    { id, name }: BookRow,
    error: ProviderError,
    { failures, pauseMs }: { failures: number; pauseMs: number },
  ) {
    // The log keeps its newest records only, so a book that fails still is among its warnings again, ever less often.
    const level = Number.isInteger(Math.log2(failures)) ? 'warn' : 'info'
    const waitS = Math.ceil(pauseMs / 1000)
    this.#log[level](`Cannot sync the address book "${name}" (${error.message}); trying again in ${waitS} s.`, {
      ...this.#about,
      error,
      metadata: { addressBookId: id, attempts: failures, pauseMs, kind: error.kind },
    })
  }

  unreadable({ id, name }: BookRow, contacts: readonly UnreadableContact[]): void {
    for (const { contactId, reason } of contacts.slice(0, MAX_REPORTED)) {
      this.#log.warn(`A contact of the address book "${name}" cannot be read as it is: ${reason}`, {
        ...this.#about,
        metadata: { addressBookId: id, contactId },
      })
    }
    if (contacts.length <= MAX_REPORTED) return
    const more = contacts.length - MAX_REPORTED
    this.#log.warn(`${more} more contacts of the address book "${name}" cannot be read as they are.`, {
      ...this.#about,
      metadata: { addressBookId: id },
    })
  }

  get #about() {
    return {
      accountId: this.#accountId,
      provider: this.provider,
      operation: 'sync.contacts',
      durationMs: this.#clock.monotonic() - this.#startedAt,
    }
  }
}
