import type { Db } from '../../../platform/db/index.ts'
import type { Control } from '../../../providers/contract/index.ts'
import { isFound, messageStore } from '../../messages/index.ts'
import { unreadableStore } from './store.ts'

/** Several, because some of the newest messages may not be complete. */
const MAX_CONTROLS = 10

/** The newest message that is complete and has not failed. */
export function buildControl({ read }: Pick<Db, 'read'>, accountId: string): Control {
  return async () => {
    const store = messageStore(read)
    const newest = await store.newestFirst({ accountId }, MAX_CONTROLS)
    const rows = await store.byIds(newest.map(({ id }) => id))
    const failing = new Set((await unreadableStore(read, accountId).all('message')).map(({ itemId }) => itemId))
    const complete = rows.find((row) => row.error === null && !isFound(row) && !failing.has(row.providerMessageId))
    return complete?.providerMessageId ?? null
  }
}
