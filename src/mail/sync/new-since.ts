import type { RemoteMessage } from '../../providers/contract/index.ts'
import type { CursorRow } from './store.ts'

/** Clocks differ and delivery takes time, so a message this much older than the last sync may still be new. */
const LATE_MS = 10 * 60_000
/** Before every message. */
export const ALWAYS = Number.MIN_SAFE_INTEGER

/** Returns whether to announce a message that matches no stored one. `receivedAt` decides when the provider does not know. */
export function isNewArrival(
  message: RemoteMessage,
  { receivedAt }: { receivedAt: number },
  refetched: boolean,
  position: CursorRow | undefined,
  syncedAt: number,
): boolean {
  const since = chooseNewSince(message, refetched, position, syncedAt)
  return since !== null && receivedAt > since
}

/** Messages received after this time are announced; null: none. */
export function chooseNewSince(
  { isNew }: Pick<RemoteMessage, 'isNew'>,
  refetched: boolean,
  position: CursorRow | undefined,
  syncedAt: number,
): number | null {
  const since = position?.announceAfter ?? (refetched ? notifyAfter(position?.lastSyncAt ?? null, syncedAt) : null)
  if (since !== null) return since
  return isNew ? ALWAYS : null
}

/** Unmatched messages received after this time are new: shortly before the last sync. In a folder never synced, none is. */
export function notifyAfter(lastSyncAt: number | null, syncedAt: number): number {
  return lastSyncAt === null ? Number.MAX_SAFE_INTEGER : Math.max(lastSyncAt, syncedAt) - LATE_MS
}

/** The same for a database: null where nothing is new. */
export function boundedSince(newSince: number | null): number | null {
  return newSince === Number.MAX_SAFE_INTEGER ? null : newSince
}
