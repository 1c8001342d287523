import type { Handle, Tx } from '../../platform/db/index.ts'

/** Whether the stored labels were cleared: they are listed again before they are shown. */
export async function areLabelsCleared(handle: Handle, accountId: string): Promise<boolean> {
  const row = await handle
    .selectFrom('apiChanges')
    .select('labelsCleared')
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  return row?.labelsCleared === 1
}

export async function setLabelsCleared(tx: Tx, accountId: string, isCleared: boolean): Promise<void> {
  const labelsCleared = Number(isCleared)
  await tx
    .insertInto('apiChanges')
    .values({ accountId, latest: 0, latestDeletion: 0, latestFolder: 0, labelsCleared })
    .onConflict((conflict) => conflict.column('accountId').doUpdateSet({ labelsCleared }))
    .execute()
}
