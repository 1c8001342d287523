import type { Handle } from '../../../platform/db/index.ts'
import { isoTime } from '../../../platform/time/time.ts'
import { labelStore } from '../../labels/index.ts'
import { unreadableStore } from './store.ts'

interface ShownItem {
  kind: 'message' | 'folder'
  providerId: string
  folder: string | null
  reason: string
  failures: number
  failedAt: string
  nextAttemptAt: string
}

/** Lists the messages and folders of an account that cannot be read, for operators. */
export async function readUnreadable(
  handle: Handle,
  accountId: string,
  limit: number,
): Promise<{ count: number; items: ShownItem[] }> {
  const { count, items } = await unreadableStore(handle, accountId).shown(limit)
  const chooseLabelId = ({ kind, itemId, labelId }: (typeof items)[number]) => (kind === 'folder' ? itemId : labelId)
  const labels = await labelStore(handle).byIds(items.flatMap((item) => chooseLabelId(item) ?? []))
  return {
    count,
    items: items.map((item) => {
      const label = labels.get(chooseLabelId(item) ?? '')
      return {
        kind: item.kind,
        providerId: item.kind === 'folder' ? (label?.providerId ?? item.itemId) : item.itemId,
        folder: label?.name ?? null,
        reason: item.reason,
        failures: item.failures,
        failedAt: isoTime(item.failedAt),
        nextAttemptAt: isoTime(item.nextAttemptAt),
      }
    }),
  }
}
