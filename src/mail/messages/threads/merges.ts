import { type Handle, padded, type Tx } from '../../../platform/db/index.ts'

/** The messages of one thread belong to another. */
export interface ThreadMerge {
  threadId: string
  intoThreadId: string
}

/** Where the messages of these threads are, or will be when their merge is complete. */
export async function currentThreads(
  handle: Handle,
  threadIds: readonly string[],
): Promise<(threadId: string) => string> {
  const merges = new Map<string, string>()
  // One more round for each merge of a thread that another one was merged into.
  for (let open = [...new Set(threadIds)]; open.length > 0; ) {
    const rows = await handle
      .selectFrom('threadMerges')
      .select(['threadId', 'intoThreadId'])
      .where('threadId', 'in', padded(open))
      .execute()
    for (const { threadId, intoThreadId } of rows) merges.set(threadId, intoThreadId)
    open = [...new Set(rows.map((row) => row.intoThreadId))].filter((threadId) => !merges.has(threadId))
  }
  return (threadId) => {
    let current = threadId
    for (let next = merges.get(current); next !== undefined; next = merges.get(current)) current = next
    return current
  }
}

/** Larger threads are equally large. */
const MAX_COUNTED = 200

/** The number of messages, missing ones included, up to a limit. */
export async function threadSize(handle: Handle, threadId: string): Promise<number> {
  const rows = await handle
    .selectFrom('messages')
    .select('id')
    .where('threadId', '=', threadId)
    .limit(MAX_COUNTED)
    .execute()
  return rows.length
}

/** Records a merge in the transaction that found it. `isPending`: messages are left to be moved. */
export async function recordMerge(
  tx: Tx,
  accountId: string,
  { threadId, intoThreadId }: ThreadMerge,
  isPending: boolean,
): Promise<void> {
  await tx
    .insertInto('threadMerges')
    .values({ threadId, accountId, intoThreadId, isPending: isPending ? 1 : 0 })
    .execute()
}

export async function updateMerge(tx: Tx, { threadId, intoThreadId }: ThreadMerge, isPending: boolean): Promise<void> {
  await tx
    .updateTable('threadMerges')
    .set({ intoThreadId, isPending: isPending ? 1 : 0 })
    .where('threadId', '=', threadId)
    .execute()
}

/** A thread with messages left to be moved. */
export async function findPendingMerge(handle: Handle): Promise<{ threadId: string; accountId: string } | undefined> {
  return handle
    .selectFrom('threadMerges')
    .select(['threadId', 'accountId'])
    .where('isPending', '=', 1)
    .limit(1)
    .executeTakeFirst()
}
