/**
 * Some servers close the connection whenever they cannot read a message (Dovecot, when its file is damaged). After a second lost
 * connection, sync fetches in ever smaller steps until one message is identified, and skips it after it failed twice alone. Kept
 * across sessions, cleared when a sync completes.
 */
export interface FetchBackoff {
  /** How many messages to fetch at once instead of `step`. */
  limit(step: number): number
  /** Whether to list UIDs before fetching, so that the message can be identified. */
  isActive(): boolean
  isUnreadable(uid: number): boolean
  /** The connection was lost while these UIDs were fetched. */
  recordLoss(uids: readonly number[]): void
}

export interface FetchBackoffs {
  of(accountId: string, path: string): FetchBackoff
  clear(accountId: string, path: string): void
}

interface State {
  losses: number
  failuresAlone: Map<number, number>
}

/** A single loss may be a coincidence. */
const TOLERATED_LOSSES = 1
const SHRINK_FACTOR = 8
const MAX_FAILURES_ALONE = 2

export function fetchBackoffs(): FetchBackoffs {
  const states = new Map<string, State>()
  const keyOf = (accountId: string, path: string) => `${accountId} ${path}`
  return {
    of(accountId, path) {
      const key = keyOf(accountId, path)
      const losses = () => states.get(key)?.losses ?? 0
      return {
        limit: (step) => Math.max(1, Math.floor(step / SHRINK_FACTOR ** Math.max(0, losses() - TOLERATED_LOSSES))),
        isActive: () => losses() > TOLERATED_LOSSES,
        isUnreadable: (uid) => (states.get(key)?.failuresAlone.get(uid) ?? 0) >= MAX_FAILURES_ALONE,
        recordLoss(uids) {
          const state = states.get(key) ?? { losses: 0, failuresAlone: new Map() }
          state.losses += 1
          const [only] = uids
          if (uids.length === 1 && only !== undefined) {
            state.failuresAlone.set(only, (state.failuresAlone.get(only) ?? 0) + 1)
          }
          states.set(key, state)
        },
      }
    },
    clear(accountId, path) {
      states.delete(keyOf(accountId, path))
    },
  }
}
