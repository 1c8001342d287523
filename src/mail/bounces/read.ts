import type { Handle } from '../../platform/db/index.ts'
import { addToGroup } from '../../platform/group-by.ts'
import type { ReportedRecipient } from '../../providers/shared/mime/index.ts'
import type { BounceRow } from './tables.ts'

/** One recipient whom a message did not reach, or not yet. */
export interface BouncedRecipient
  extends ReportedRecipient,
    Pick<BounceRow, 'kind' | 'reportMessageId' | 'bouncedAt'> {}

/** Strangers send reports, so each message shows at most this many. */
const MAX_REPORTS = 20

/** The bounces of these messages, oldest first, by message. */
export async function bouncedRecipients(
  handle: Handle,
  messageIds: readonly string[],
): Promise<Map<string, BouncedRecipient[]>> {
  const found = new Map<string, BouncedRecipient[]>()
  if (messageIds.length === 0) return found
  const rows = await handle
    .selectFrom('bounces')
    .selectAll()
    .where('messageId', 'in', [...messageIds])
    .where('messageId', 'is not', null)
    .orderBy('bouncedAt')
    .orderBy('reportMessageId')
    .limit(MAX_REPORTS * messageIds.length)
    .execute()
  const reports = new Map<string, number>()
  for (const { messageId, recipients, kind, reportMessageId, bouncedAt } of rows) {
    const key = messageId ?? ''
    const count = (reports.get(key) ?? 0) + 1
    reports.set(key, count)
    if (count > MAX_REPORTS) continue
    const list: ReportedRecipient[] = JSON.parse(recipients)
    for (const recipient of list) addToGroup(found, key, { ...recipient, kind, reportMessageId, bouncedAt })
  }
  return found
}
