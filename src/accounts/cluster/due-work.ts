/** Beyond so many named accounts, a round reads all of this instance. */
const MOST_NAMED = 200

/** What the next round has to do beside its heartbeat. Collected from hints, and from what earlier rounds left. */
export class DueWork {
  /** Read every owned account. */
  all: boolean
  /** Take or release accounts. */
  share: boolean
  /** Read these accounts. */
  readonly #accounts = new Set<string>()

  constructor(initial: { all: boolean }) {
    this.all = initial.all
    this.share = initial.all
  }

  get accounts(): readonly string[] {
    return [...this.#accounts]
  }

  addAccount(id: string): void {
    if (this.#accounts.size < MOST_NAMED) this.#accounts.add(id)
    else this.all = true
  }

  /** Returns what was due until now. What is added afterwards is for the round after that. */
  take(): { all: boolean; share: boolean; accounts: readonly string[] } {
    const taken = { all: this.all, share: this.share || this.all, accounts: this.accounts }
    this.all = false
    this.share = false
    this.#accounts.clear()
    return taken
  }
}

/** How many instances look for a new account without an owner after its hint. */
const FINDERS = 3

/**
 * Whether this instance is one of the few that find out, after a hint, whether the account is new and has no owner. The next
 * round of any instance would find it too. `living` is sorted.
 */
export function looksForOwner(accountId: string, me: string, living: readonly string[]): boolean {
  if (living.length <= FINDERS) return true
  const first = hash(accountId) % living.length
  return Array.from({ length: FINDERS }, (_, next) => living[(first + next) % living.length]).includes(me)
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}
