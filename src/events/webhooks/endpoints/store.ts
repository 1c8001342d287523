import type { Updateable } from 'kysely'
import { compiledOnce, type Dialect, type Handle, type Tables } from '../../../platform/db/index.ts'
import { notFound } from '../../../platform/errors/app-error.ts'
import type { EndpointRow } from './endpoint.ts'

const TARGET = ['id', 'url', 'eventTypes', 'retryCount', 'circuitState', 'circuitProbeAt'] as const

export type TargetRow = Pick<EndpointRow, (typeof TARGET)[number]>

interface EndpointStore {
  /** Ordered by id: oldest first for generated ids. */
  list(): Promise<EndpointRow[]>
  listActive(): Promise<EndpointRow[]>
  /** Lists the active endpoints for a fan-out, which reads them for every batch of events. */
  listTargets(): Promise<TargetRow[]>
  find(id: string): Promise<EndpointRow | undefined>
  get(id: string): Promise<EndpointRow>
  /** As `get`, with the row locked until the transaction ends. Throws not_found. */
  lock(id: string, dialect: Dialect): Promise<EndpointRow>
  /** As `lock`, but undefined when the endpoint was deleted meanwhile. */
  findLocked(id: string, dialect: Dialect): Promise<EndpointRow | undefined>
  /** False when the id is taken. */
  insert(row: EndpointRow): Promise<boolean>
  /** Returns the updated row. Throws not_found. */
  update(id: string, changes: Updateable<Tables['webhookEndpoints']>): Promise<EndpointRow>
  /** True when this call made the endpoint inactive. */
  deactivate(id: string, nowMs: number): Promise<boolean>
  /** Throws not_found. */
  delete(id: string): Promise<void>
}

const findById = compiledOnce((handle, id: string) =>
  handle.selectFrom('webhookEndpoints').selectAll().where('id', '=', id),
)
const listTargets = compiledOnce((handle) =>
  handle.selectFrom('webhookEndpoints').select(TARGET).where('isActive', '=', 1).orderBy('id'),
)

export function endpointStore(handle: Handle): EndpointStore {
  const all = () => handle.selectFrom('webhookEndpoints').selectAll()
  const find = async (id: string) => (await findById(handle, id))[0]
  return {
    list: () => all().orderBy('id').execute(),
    listTargets: () => listTargets(handle),
    listActive: () => all().where('isActive', '=', 1).orderBy('id').execute(),
    find,
    async get(id) {
      return (await find(id)) ?? missing(id)
    },
    async lock(id, dialect) {
      return (await this.findLocked(id, dialect)) ?? missing(id)
    },
    findLocked: (id, dialect) => all().where('id', '=', id).modifyEnd(dialect.forUpdate).executeTakeFirst(),
    async insert(row) {
      const { numInsertedOrUpdatedRows } = await handle
        .insertInto('webhookEndpoints')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst()
      return numInsertedOrUpdatedRows === 1n
    },
    async update(id, changes) {
      const row = await handle
        .updateTable('webhookEndpoints')
        .set(changes)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row ?? missing(id)
    },
    async deactivate(id, nowMs) {
      const { numUpdatedRows } = await handle
        .updateTable('webhookEndpoints')
        .set({ isActive: 0, updatedAt: nowMs })
        .where('id', '=', id)
        .where('isActive', '=', 1)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    async delete(id) {
      const { numDeletedRows } = await handle.deleteFrom('webhookEndpoints').where('id', '=', id).executeTakeFirst()
      if (numDeletedRows === 0n) missing(id)
    },
  }
}

function missing(id: string): never {
  throw notFound('webhook endpoint', id)
}
