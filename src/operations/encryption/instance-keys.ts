import { livingInstances } from '../../accounts/cluster/index.ts'
import type { Db, Handle, Tx } from '../../platform/db/index.ts'

/** Stores the ids of the keys that the instance knows, unless they are stored. */
export async function reportKeys(db: Db, instanceId: string, keyIds: readonly string[]): Promise<void> {
  const text = keyIds.join(',')
  const stored = await db.read
    .selectFrom('instanceKeys')
    .select('keyIds')
    .where('instanceId', '=', instanceId)
    .executeTakeFirst()
  if (stored?.keyIds === text) return
  await db.transaction((tx) =>
    tx
      .insertInto('instanceKeys')
      .values({ instanceId, keyIds: text })
      .onConflict((conflict) => conflict.column('instanceId').doUpdateSet({ keyIds: text }))
      .execute(),
  )
}

/** The ids of the keys that instances have reported, the primary key first. */
export async function readReportedKeys(handle: Handle): Promise<ReadonlyMap<string, string[]>> {
  const rows = await handle.selectFrom('instanceKeys').selectAll().execute()
  return new Map(rows.map(({ instanceId, keyIds }) => [instanceId, keyIds.split(',')]))
}

export async function deleteKeys(tx: Tx, instanceId: string): Promise<void> {
  await tx.deleteFrom('instanceKeys').where('instanceId', '=', instanceId).execute()
}

/** Deletes up to `limit` rows of instances that no longer exist, and returns how many. One that was only taken for dead reports its keys again. */
export async function purgeInstanceKeys(tx: Tx, _beforeMs: number, limit: number): Promise<number> {
  const living = new Set(await livingInstances(tx))
  const reported = [...(await readReportedKeys(tx)).keys()]
  const dead = reported.filter((id) => !living.has(id)).slice(0, limit)
  for (const id of dead) await deleteKeys(tx, id)
  return dead.length
}
