/**
 * Some servers hang up on a message they cannot read themselves (Dovecot, when its file is damaged), at every try. When
 * fetching lost the connection more than once, it goes on in ever smaller steps, until the one message is known; after two
 * tries of it alone it is left out. Kept over sessions, forgotten when a pass ends well.
 */
export interface Caution {
  /** How many messages to fetch at once instead of `step`. */
  limit(step: number): number
  /** Whether uids must be listed before they are fetched, so that the one can be found. */
  isCareful(): boolean
  isBad(uid: number): boolean
  lost(uids: readonly number[]): void
}

/** Both per account and folder. */
export interface Cautions {
  of(accountId: string, path: string): Caution
  passed(accountId: string, path: string): void
}

interface Trouble {
  losses: number
  blamed: Map<number, number>
}

/** One lost connection is an accident. */
const ACCIDENTS = 1
const SHRINK = 8
const PROOFS = 2

export function cautions(): Cautions {
  const troubles = new Map<string, Trouble>()
  const keyOf = (accountId: string, path: string) => `${accountId} ${path}`
  return {
    of(accountId, path) {
      const key = keyOf(accountId, path)
      const losses = () => troubles.get(key)?.losses ?? 0
      return {
        limit: (step) => Math.max(1, Math.floor(step / SHRINK ** Math.max(0, losses() - ACCIDENTS))),
        isCareful: () => losses() > ACCIDENTS,
        isBad: (uid) => (troubles.get(key)?.blamed.get(uid) ?? 0) >= PROOFS,
        lost(uids) {
          const trouble = troubles.get(key) ?? { losses: 0, blamed: new Map() }
          trouble.losses += 1
          const [only] = uids
          if (uids.length === 1 && only !== undefined) trouble.blamed.set(only, (trouble.blamed.get(only) ?? 0) + 1)
          troubles.set(key, trouble)
        },
      }
    },
    passed(accountId, path) {
      troubles.delete(keyOf(accountId, path))
    },
  }
}
