import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import type { Log } from '../../platform/log/index.ts'
import type { OwnershipChange } from '../index.ts'
import type { OwnedAccount } from './ownership-store.ts'

/** An account that was reported to the listeners. */
interface Known {
  account: OwnedAccount
  /** The full read that found it last. */
  foundBy: number
  /** A listener failed, so the next full read reports the account again. */
  isMissed: boolean
}

/** How many lost accounts one change reports. Listeners take some microseconds for each. */
const LOST_PER_CHANGE = 500

/**
 * The accounts that this instance owns, as of its last round or claim. Changes are reported in portions, because listeners loop over
 * them, and a start may take 100,000 accounts. Its asynchronous methods must not overlap with each other or with `add`.
 */
export class OwnedAccounts {
  readonly #log: Log
  readonly #listeners: ((change: OwnershipChange) => void)[] = []
  /** Includes accounts that are lost already, until that is reported. */
  readonly #known = new Map<string, Known>()
  #epochs = new Map<string, number>()
  #reads = 0
  /** Accounts gained and lost since the last log entry, and one of them. */
  #gained = 0
  #lost = 0
  #example = ''

  constructor(log: Log) {
    this.#log = log
  }

  /** Epoch by account id. */
  get epochs(): ReadonlyMap<string, number> {
    return this.#epochs
  }

  get(accountId: string): OwnedAccount | undefined {
    return this.#epochs.has(accountId) ? this.#known.get(accountId)?.account : undefined
  }

  /** Calls the listener with each change. Its failure does not affect the others. */
  onChange(listener: (change: OwnershipChange) => void): void {
    this.#listeners.push(listener)
  }

  add(account: OwnedAccount): void {
    this.#take([account])
    this.#logChanges()
  }

  /** Owns exactly the accounts of these pages from now on. */
  async replace(pages: AsyncIterable<readonly OwnedAccount[]>): Promise<void> {
    this.#reads += 1
    for await (const page of pages) {
      this.#take(page)
      await yieldIfHeld(TURN_MS)
    }
    await this.#forget((_id, { foundBy }) => foundBy !== this.#reads)
  }

  /** Those of these accounts that are still owned are `found`. */
  refresh(accountIds: readonly string[], found: readonly OwnedAccount[]): void {
    this.#take(found)
    const owned = new Set(found.map(({ id }) => id))
    const lost = accountIds.filter((id) => !owned.has(id) && this.#known.delete(id))
    for (const id of lost) this.#epochs.delete(id)
    this.#report({ lost, gained: [], changed: [] })
    this.#logChanges()
  }

  /** Owns nothing from now on. `reportDropped` reports it to the listeners. */
  drop(): void {
    this.#epochs = new Map()
  }

  async reportDropped(): Promise<void> {
    await this.#forget((id) => !this.#epochs.has(id))
  }

  #take(accounts: readonly OwnedAccount[]): void {
    const change: OwnershipChange = { lost: [], gained: [], changed: [] }
    for (const account of accounts) {
      const { id, epoch } = account
      const entry = this.#known.get(id)
      if (entry === undefined || this.#epochs.get(id) !== epoch) {
        if (entry !== undefined) change.lost.push(id)
        change.gained.push(id)
        this.#epochs.set(id, epoch)
        this.#known.set(id, { account, foundBy: this.#reads, isMissed: false })
        continue
      }
      if (entry.isMissed) change.gained.push(id)
      else if (differs(entry.account, account)) change.changed.push(id)
      entry.account = account
      entry.foundBy = this.#reads
      entry.isMissed = false
    }
    this.#report(change)
  }

  async #forget(isLost: (id: string, entry: Known) => boolean): Promise<void> {
    let lost: string[] = []
    let count = 0
    for (const [id, entry] of this.#known) {
      if (isLost(id, entry)) {
        this.#known.delete(id)
        this.#epochs.delete(id)
        lost.push(id)
      }
      count += 1
      if (count % LOST_PER_CHANGE !== 0) continue
      this.#report({ lost, gained: [], changed: [] })
      lost = []
      await yieldIfHeld(TURN_MS)
    }
    this.#report({ lost, gained: [], changed: [] })
    this.#logChanges()
  }

  #report(change: OwnershipChange): void {
    const { lost, gained, changed } = change
    if (lost.length + gained.length + changed.length === 0) return
    this.#lost += lost.length
    this.#gained += gained.length
    this.#example = gained[0] ?? lost[0] ?? this.#example
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        for (const id of [...gained, ...changed]) {
          const entry = this.#known.get(id)
          if (entry !== undefined) entry.isMissed = true
        }
        const message = 'A listener of ownership changes failed; the next full round reports them again.'
        this.#log.error(message, { operation: 'accounts.ownership', error })
      }
    }
  }

  /** One entry with counts, however many portions the changes had. */
  #logChanges(): void {
    const [gained, lost] = [this.#gained, this.#lost]
    if (gained + lost === 0) return
    this.#gained = this.#lost = 0
    this.#log.info(
      `This instance took over ${gained === 1 ? '1 account' : `${gained} accounts`} and released ${lost}.`,
      {
        operation: 'accounts.ownership',
        ...(gained + lost === 1 && { accountId: this.#example }),
        metadata: { gained, lost, owned: this.#epochs.size },
      },
    )
  }
}

function differs(before: OwnedAccount, now: OwnedAccount): boolean {
  return before.paused !== now.paused || before.watch !== now.watch || before.accessVersion !== now.accessVersion
}
