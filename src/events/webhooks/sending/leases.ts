import { type Db, isUnleased, type LeasedTable, type Tx } from '../../../platform/db/index.ts'

/** Deliveries are claimed by the worker of their endpoint. A dead worker loses nothing, and no two send the same delivery at once. */
export const DELIVERIES: LeasedTable<'webhookDeliveries'> = {
  name: 'webhookDeliveries',
  key: 'endpointId',
  dueAt: 'nextAttemptAt',
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
          .where(isUnleased(dialect)),
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
