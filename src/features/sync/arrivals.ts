import type { RemoteMessage } from '../../providers/contract/index.ts'
import type { CursorRow } from './store.ts'

/** Clocks differ and delivery takes time, so a message this much older than the last sync may still be new. */
const LATE_MS = 10 * 60_000

/** Returns whether to announce a message that matches no stored one. `receivedAt` decides when the provider does not know. */
export function isNewArrival(
  message: RemoteMessage,
  { receivedAt }: { receivedAt: number },
  refetched: boolean,
  position: CursorRow | undefined,
  syncedAt: number,
): boolean {
  const since = position?.announceAfter ?? (refetched ? notifyAfter(position?.lastSyncAt ?? null, syncedAt) : null)
  return since === null ? message.isNew : receivedAt > since
}

/** Unmatched messages received after this time are new: shortly before the last sync. In a folder never synced, none is. */
export function notifyAfter(lastSyncAt: number | null, syncedAt: number): number {
  return lastSyncAt === null ? Number.MAX_SAFE_INTEGER : Math.max(lastSyncAt, syncedAt) - LATE_MS
}
