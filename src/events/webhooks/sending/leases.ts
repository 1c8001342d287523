import { type ExpressionBuilder, sql } from 'kysely'
import {
  type Db,
  type Dialect,
  isUnleased,
  type LeasedTable,
  padded,
  type Tables,
  type Tx,
} from '../../../platform/db/index.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'

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
    .where((eb) => hasDue(eb, dialect, nowMs))
    .orderBy('id')
    .execute()
  return rows.map((row) => row.id)
}

/** An endpoint as a running worker checks it. */
export interface EndpointCheck extends Pick<EndpointRow, 'updatedAt' | 'circuitState'> {
  /** Whether deliveries wait for a claim. */
  isDue: boolean
}

/** Returns the checks of those endpoints that are active, by id. */
export async function checkEndpoints(
  { read, dialect }: Db,
  ids: readonly string[],
  nowMs: number,
): Promise<Map<string, EndpointCheck>> {
  const rows = await read
    .selectFrom('webhookEndpoints')
    .select(['id', 'updatedAt', 'circuitState'])
    .select((eb) =>
      eb
        .case()
        .when(hasDue(eb, dialect, nowMs))
        .then(sql.lit(1))
        .else(sql.lit(0))
        .end()
        .as('isDue'),
    )
    .where('id', 'in', padded(ids))
    .where('isActive', '=', 1)
    .execute()
  return new Map(rows.map(({ id, isDue, ...row }) => [id, { ...row, isDue: isDue === 1 }]))
}

/** Whether the endpoint of the row has deliveries that are due and unclaimed. */
function hasDue(eb: ExpressionBuilder<Tables, 'webhookEndpoints'>, dialect: Dialect, nowMs: number) {
  return eb.exists(
    eb
      .selectFrom('webhookDeliveries')
      .select('webhookDeliveries.id')
      .whereRef('webhookDeliveries.endpointId', '=', 'webhookEndpoints.id')
      .where('nextAttemptAt', '<=', nowMs)
      .where(isUnleased(dialect)),
  )
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
