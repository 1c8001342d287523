import { type RawBuilder, sql } from 'kysely'
import type { Db, Dialect, Tx } from '../../../platform/db/index.ts'
import type { DeliveryRow } from '../tables.ts'

/** Identifies the worker that holds a delivery, and for how long. A worker that does not renew in time loses it. */
export interface Lease {
  token: string
  forMs: number
}

/** Leases use the database's time, the only clock that replicas share. */
export const untilOf = (dialect: Dialect, lease: Lease) => sql<number>`${dialect.nowMs} + ${sql.lit(lease.forMs)}`
export const isFree = (dialect: Dialect): RawBuilder<boolean> =>
  sql<boolean>`("leasedUntil" is null or "leasedUntil" <= ${dialect.nowMs})`

/**
 * Claims up to `limit` due deliveries of one endpoint, oldest due first. Skips deliveries that another worker holds until
 * their lease expires: a dead process loses nothing, and no two workers send the same delivery at once.
 */
export async function claimDue(
  tx: Tx,
  dialect: Dialect,
  endpointId: string,
  lease: Lease,
  nowMs: number,
  limit: number,
): Promise<DeliveryRow[]> {
  const due = tx
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('endpointId', '=', endpointId)
    .where('nextAttemptAt', '<=', nowMs)
    .where(isFree(dialect))
    .orderBy('nextAttemptAt')
    .orderBy('id')
    .limit(limit)
    .modifyEnd(dialect.skipLocked)
  const rows = await tx
    .updateTable('webhookDeliveries')
    .set({ lease: lease.token, leasedUntil: untilOf(dialect, lease) })
    .where('id', 'in', due)
    .returningAll()
    .execute()
  return rows.sort((left, right) => order(left, right))
}

function order(left: DeliveryRow, right: DeliveryRow): number {
  return (left.nextAttemptAt ?? 0) - (right.nextAttemptAt ?? 0) || (left.id < right.id ? -1 : 1)
}

/** Extends the lease. Deliveries that were lost meanwhile stay lost; the fence in `recordResults` rejects their results. */
export async function renewLease(tx: Tx, dialect: Dialect, ids: readonly string[], lease: Lease): Promise<void> {
  await tx
    .updateTable('webhookDeliveries')
    .set({ leasedUntil: untilOf(dialect, lease) })
    .where('id', 'in', ids)
    .where('lease', '=', lease.token)
    .execute()
}

/** Releases claimed deliveries that were not attempted. */
export async function releaseLease(tx: Tx, ids: readonly string[], token: string): Promise<void> {
  await tx
    .updateTable('webhookDeliveries')
    .set({ lease: null, leasedUntil: null })
    .where('id', 'in', ids)
    .where('lease', '=', token)
    .execute()
}

/** Used at the start on the file store, where no other process can hold a lease. Migration 0004 adds an index for this. */
export async function releaseAllLeases(tx: Tx): Promise<void> {
  await tx
    .updateTable('webhookDeliveries')
    .set({ lease: null, leasedUntil: null })
    .where('leasedUntil', 'is not', null)
    .execute()
}

/** When the endpoint's next unclaimed delivery is due; undefined when none waits. */
export async function findNextDue({ read, dialect }: Db, endpointId: string): Promise<number | undefined> {
  const row = await read
    .selectFrom('webhookDeliveries')
    .select('nextAttemptAt')
    .where('endpointId', '=', endpointId)
    .where('nextAttemptAt', 'is not', null)
    .where(isFree(dialect))
    .orderBy('nextAttemptAt')
    .limit(1)
    .executeTakeFirst()
  return row?.nextAttemptAt ?? undefined
}

/** Active endpoints with due, unclaimed deliveries that their circuit lets through, for the sweeper. One index probe per endpoint. */
export async function listEndpointsDue({ read, dialect }: Db, nowMs: number): Promise<string[]> {
  const rows = await read
    .selectFrom('webhookEndpoints')
    .select('id')
    .where('isActive', '=', 1)
    .where((eb) => eb.or([eb('circuitState', '=', 'closed'), eb('circuitProbeAt', '<=', nowMs)]))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('webhookDeliveries')
          .select('webhookDeliveries.id')
          .whereRef('webhookDeliveries.endpointId', '=', 'webhookEndpoints.id')
          .where('nextAttemptAt', '<=', nowMs)
          .where(isFree(dialect)),
      ),
    )
    .orderBy('id')
    .execute()
  return rows.map((row) => row.id)
}

const CANCELLED = { status: 'cancelled', nextAttemptAt: null, lease: null, leasedUntil: null } as const

/** Cancels deliveries that the worker holds. */
export async function cancelHeld(tx: Tx, ids: readonly string[], token: string): Promise<void> {
  await tx.updateTable('webhookDeliveries').set(CANCELLED).where('id', 'in', ids).where('lease', '=', token).execute()
}

/** Cancels up to `limit` waiting deliveries of a deleted endpoint; returns how many. */
export async function cancelForEndpoint(tx: Tx, endpointId: string, limit: number): Promise<number> {
  const waiting = tx
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('endpointId', '=', endpointId)
    .where('nextAttemptAt', 'is not', null)
    .limit(limit)
  const { numUpdatedRows } = await tx
    .updateTable('webhookDeliveries')
    .set(CANCELLED)
    .where('id', 'in', waiting)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
