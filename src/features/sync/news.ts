import type { RemoteMessage } from '../../providers/contract/index.ts'
import type { CursorRow } from './cursor-store.ts'

/** Clocks of servers differ, and a delivery takes its time: mail this much older than the last sync may be new. */
const LATE_MS = 10 * 60_000

/** May a mail that matches nothing stored be announced? Where the provider cannot tell, the time of its arrival does. */
export function isNews(
  mail: RemoteMessage,
  { receivedAt }: { receivedAt: number },
  refetched: boolean,
  position: CursorRow | undefined,
  syncedAt: number,
): boolean {
  const since = position?.announceAfter ?? (refetched ? lateAfter(position?.lastSyncAt ?? null, syncedAt) : null)
  return since === null ? mail.isNew : receivedAt > since
}

/** From when on an unmatched message is new: shortly before the folder's last sync. A folder that was never synced has none. */
export function lateAfter(lastSyncAt: number | null, syncedAt: number): number {
  return lastSyncAt === null ? Number.MAX_SAFE_INTEGER : Math.max(lastSyncAt, syncedAt) - LATE_MS
}
