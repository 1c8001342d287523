import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderError, ProviderName } from '../../providers/contract/index.ts'
import type { UnreadableItem } from './unreadable.ts'

/** Unreadable items of one transaction that are logged one by one. */
const MAX_REPORTED = 5

/** How the log names what is synced. */
export interface CollectionNames {
  operation: string
  /** `calendar`, and several of them. */
  collection: string
  collections: string
  /** `An event`, and several of them. */
  item: string
  items: string
  /** The members of a record's metadata that have their ids. */
  collectionId: string
  itemId: string
}

interface Counts {
  added: number
  updated: number
  deleted: number
}

/** The log entries of one run of one account: what changed, and what failed. Names of people are not logged. */
export class RunLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #names: CollectionNames
  readonly #accountId: string
  readonly #startedAt: number
  readonly #changed = { added: 0, updated: 0, deleted: 0 }
  /** Undefined until the account was read. */
  provider: ProviderName | undefined

  constructor({ log, clock }: { log: Log; clock: Clock }, names: CollectionNames, accountId: string) {
    this.#log = log
    this.#clock = clock
    this.#names = names
    this.#accountId = accountId
    this.#startedAt = clock.monotonic()
  }

  add({ added, updated, deleted }: Counts): void {
    this.#changed.added += added
    this.#changed.updated += updated
    this.#changed.deleted += deleted
  }

  /** A run that found no change writes nothing. */
  succeeded(): void {
    const { added, updated, deleted } = this.#changed
    if (added + updated + deleted === 0) return
    const { collections, items } = this.#names
    this.#log.info(`Synced ${collections}: ${added} ${items} added, ${updated} updated, ${deleted} deleted.`, {
      ...this.#about,
      metadata: this.#changed,
    })
  }

  failed(error: ProviderError, { attempts, nextRunInMs }: { attempts: number; nextRunInMs: number }): void {
    const level = attempts === 1 ? 'warn' : 'info'
    const what = `the ${this.#names.collections} of the account`
    this.#log[level](`Cannot sync ${what} (${error.message}); trying again in ${seconds(nextRunInMs)}.`, {
      ...this.#about,
      error,
      metadata: { attempts, nextRunInMs, kind: error.kind, ...this.#changed },
    })
  }

  collectionFailed(
    { id, name }: { id: string; name: string },
    error: ProviderError,
    { failures, pauseMs }: { failures: number; pauseMs: number },
  ): void {
    const { collection, collectionId } = this.#names
    // The log keeps its newest records only, so one that fails still is among its warnings again, ever less often.
    const level = Number.isInteger(Math.log2(failures)) ? 'warn' : 'info'
    const what = `the ${collection} "${name}"`
    this.#log[level](`Cannot sync ${what} (${error.message}); trying again in ${seconds(pauseMs)}.`, {
      ...this.#about,
      error,
      metadata: { [collectionId]: id, attempts: failures, pauseMs, kind: error.kind },
    })
  }

  unreadable({ id, name }: { id: string; name: string }, unreadable: readonly UnreadableItem[]): void {
    const { collection, item, items, collectionId, itemId: idName } = this.#names
    for (const { itemId, reason } of unreadable.slice(0, MAX_REPORTED)) {
      this.#log.warn(`${item} of the ${collection} "${name}" cannot be read as it is: ${reason}`, {
        ...this.#about,
        metadata: { [collectionId]: id, [idName]: itemId },
      })
    }
    if (unreadable.length <= MAX_REPORTED) return
    const more = unreadable.length - MAX_REPORTED
    this.#log.warn(`${more} more ${items} of the ${collection} "${name}" cannot be read as they are.`, {
      ...this.#about,
      metadata: { [collectionId]: id },
    })
  }

  get #about() {
    return {
      accountId: this.#accountId,
      provider: this.provider,
      operation: this.#names.operation,
      durationMs: this.#clock.monotonic() - this.#startedAt,
    }
  }
}

const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`
