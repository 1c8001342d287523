import { type SelectQueryBuilder, sql } from 'kysely'
import {
  compiledOnce,
  countMatching,
  type Dialect,
  type Handle,
  insertRows,
  type Tables,
  type Tx,
} from '../../../platform/db/index.ts'
import { notFound } from '../../../platform/errors/app-error.ts'
import { buildPage, type Page, pageRequest } from '../../../platform/formats/pagination.ts'
import { findEvents } from '../../index.ts'
import type { AttemptRow, DeliveryRow } from '../tables.ts'
import type { DeliveryQuery, DeliveryView } from './api.ts'
import { deliveryView } from './api.ts'

interface DeliveryStore {
  /** Newest first. */
  list(query: DeliveryQuery): Promise<Page<DeliveryView>>
  get(id: string): Promise<DeliveryView>
  /** In the order of `ids`. Skips missing ones. */
  getAll(ids: readonly string[]): Promise<DeliveryView[]>
  /** The row, locked until the transaction ends. Throws not_found. */
  lock(id: string, dialect: Dialect): Promise<DeliveryRow>
}

export function deliveryStore(handle: Handle): DeliveryStore {
  const all = () => handle.selectFrom('webhookDeliveries').selectAll()
  return {
    async list(query) {
      const parts = [query.endpointId, query.status, query.eventType, query.accountId, query.eventId]
      const filter = ['webhooks/deliveries', ...parts]
      const request = pageRequest(query, filter, ['text'])
      const matching = matched(handle, query)
      let page = matching.select('id').orderBy('id', 'desc')
      const [afterId] = request.after ?? []
      if (afterId !== undefined) page = page.where('id', '<', afterId)
      // An index has the ids: a page far behind does not read the rows before it.
      const found = await page
        .limit(request.limit + 1)
        .offset(request.offset)
        .execute()
      const filtered = parts.some((part) => part !== undefined)
      const total = filtered ? await countMatching(handle, matching.select('id')) : await readTotal(handle)
      const { items, pagination } = buildPage(found, request, total, filter, (row) => [row.id])
      return { items: await this.getAll(items.map(({ id }) => id)), pagination }
    },
    async get(id) {
      const [view] = await this.getAll([id])
      if (view === undefined) throw notFound('webhook delivery', id)
      return view
    },
    async getAll(ids) {
      if (ids.length === 0) return []
      const rows = await all().where('id', 'in', ids).execute()
      const order = new Map(ids.map((id, index) => [id, index]))
      rows.sort((left, right) => (order.get(left.id) ?? 0) - (order.get(right.id) ?? 0))
      return views(handle, rows)
    },
    async lock(id, dialect) {
      const row = await all().where('id', '=', id).modifyEnd(dialect.forUpdate).executeTakeFirst()
      if (row === undefined) throw notFound('webhook delivery', id)
      return row
    },
  }
}

type Matching = SelectQueryBuilder<Tables, 'webhookDeliveries', unknown>

function matched(handle: Handle, query: DeliveryQuery): Matching {
  const { endpointId, status, eventId, eventType, accountId } = query
  let matching: Matching = handle.selectFrom('webhookDeliveries')
  if (endpointId !== undefined) matching = matching.where('endpointId', '=', endpointId)
  if (eventId !== undefined) matching = matching.where('eventId', '=', eventId)
  if (eventType !== undefined) matching = matching.where('eventType', '=', eventType)
  if (accountId !== undefined) matching = matching.where('accountId', '=', accountId)
  if (status !== undefined) matching = matching.where('status', '=', status)
  // The index on the status excludes successes; SQLite uses it only when the query repeats its condition literally.
  if (status !== undefined && status !== 'success') matching = matching.where(sql<boolean>`"status" <> 'success'`)
  return matching
}

/** Inserts deliveries. The only place that does, so the count stays right. */
export async function insertDeliveries(tx: Tx, rows: readonly DeliveryRow[]): Promise<void> {
  await insertRows(tx, 'webhookDeliveries', rows)
  await addToCount(tx, rows.length)
}

/** Deletes deliveries, then their attempts, so that it also deletes the attempt of a worker that it waited for. */
export async function deleteDeliveries(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { numDeletedRows } = await tx.deleteFrom('webhookDeliveries').where('id', 'in', ids).executeTakeFirst()
  await tx.deleteFrom('webhookAttempts').where('deliveryId', 'in', ids).execute()
  await addToCount(tx, -Number(numDeletedRows))
}

async function addToCount(tx: Tx, change: number): Promise<void> {
  if (change === 0) return
  await changeTotal(tx, change)
}

const changeTotal = compiledOnce((handle, change: number) =>
  handle
    .updateTable('webhookDeliveryCount')
    .set((eb) => ({ total: eb('total', '+', change) }))
    .where('id', '=', 1),
)

async function readTotal(handle: Handle): Promise<number> {
  const row = await handle.selectFrom('webhookDeliveryCount').select('total').where('id', '=', 1).executeTakeFirst()
  return row?.total ?? 0
}

async function views(handle: Handle, rows: readonly DeliveryRow[]): Promise<DeliveryView[]> {
  if (rows.length === 0) return []
  const events = await findEvents(handle, [...new Set(rows.map((row) => row.eventId))])
  const attempts = await attemptsByDelivery(
    handle,
    rows.map((row) => row.id),
  )
  return rows.map((row) => deliveryView(row, events.get(row.eventId), attempts.get(row.id) ?? []))
}

async function attemptsByDelivery(handle: Handle, ids: readonly string[]): Promise<Map<string, AttemptRow[]>> {
  const rows = await handle
    .selectFrom('webhookAttempts')
    .selectAll()
    .where('deliveryId', 'in', ids)
    .orderBy('deliveryId')
    .orderBy('attempt')
    .execute()
  const found = new Map<string, AttemptRow[]>(ids.map((id) => [id, []]))
  for (const row of rows) found.get(row.deliveryId)?.push(row)
  return found
}
