import type { Log } from '../../../infra/log/index.ts'
import type { OwnershipChange } from '../account.ts'
import type { OwnedAccount } from './instance-store.ts'

/** The accounts that this instance owns, as of its last round or claim. */
export class OwnedAccounts {
  readonly #log: Log
  readonly #listeners: ((change: OwnershipChange) => void)[] = []
  #accounts: ReadonlyMap<string, OwnedAccount> = new Map()
  #epochs: ReadonlyMap<string, number> = new Map()

  constructor(log: Log) {
    this.#log = log
  }

  /** Epoch by account id. */
  get epochs(): ReadonlyMap<string, number> {
    return this.#epochs
  }

  get(accountId: string): OwnedAccount | undefined {
    return this.#accounts.get(accountId)
  }

  /** Calls the listener with each change. Its failure does not affect the others. */
  onChange(listener: (change: OwnershipChange) => void): void {
    this.#listeners.push(listener)
  }

  add(account: OwnedAccount): void {
    this.replace([...new Map(this.#accounts).set(account.id, account).values()])
  }

  /** Compares the accounts with the previous ones and notifies the listeners. */
  replace(accounts: readonly OwnedAccount[]): void {
    const before = this.#accounts
    this.#accounts = new Map(accounts.map((account) => [account.id, account]))
    this.#epochs = new Map(accounts.map(({ id, epoch }) => [id, epoch]))
    const change = changeBetween(before, this.#accounts)
    if (change.lost.length + change.gained.length + change.changed.length === 0) return
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#log.error('A listener of ownership changes failed.', { operation: 'accounts.ownership', error })
      }
    }
  }
}

function changeBetween(
  before: ReadonlyMap<string, OwnedAccount>,
  now: ReadonlyMap<string, OwnedAccount>,
): OwnershipChange {
  const change: OwnershipChange = { lost: [], gained: [], changed: [] }
  for (const [id, { epoch }] of before) if (now.get(id)?.epoch !== epoch) change.lost.push(id)
  for (const [id, account] of now) {
    const old = before.get(id)
    if (old?.epoch !== account.epoch) change.gained.push(id)
    else if (differs(old, account)) change.changed.push(id)
  }
  return change
}

function differs(before: OwnedAccount, now: OwnedAccount): boolean {
  return before.paused !== now.paused || before.watch !== now.watch || before.accessVersion !== now.accessVersion
}
