import type { Updateable } from 'kysely'
import { compiledOnce, type Dialect, type Handle, padded, type Tables } from '../../../platform/db/index.ts'
import { notFound } from '../../../platform/errors/app-error.ts'
import type { EndpointRow } from './endpoint.ts'

const TARGET = ['id', 'url', 'eventTypes', 'retryCount', 'circuitState', 'circuitProbeAt', 'updatedAt'] as const

export type TargetRow = Pick<EndpointRow, (typeof TARGET)[number]>

interface EndpointStore {
  /** Ordered by id: oldest first for generated ids. */
  list(): Promise<EndpointRow[]>
  listActive(): Promise<EndpointRow[]>
  /** Lists the active endpoints for a fan-out, which reads them for every batch of events. */
  listTargets(): Promise<TargetRow[]>
  find(id: string): Promise<EndpointRow | undefined>
  /** By id, without those that were deleted. */
  findAll(ids: readonly string[]): Promise<Map<string, EndpointRow>>
  get(id: string): Promise<EndpointRow>
  /** As `get`, with the row locked until the transaction ends. Throws not_found. */
  lock(id: string, dialect: Dialect): Promise<EndpointRow>
  /** As `findAll`, with the rows locked until the transaction ends, in one order over all transactions. */
  lockAll(ids: readonly string[], dialect: Dialect): Promise<Map<string, EndpointRow>>
  /** As `lock`, but undefined when the endpoint was deleted meanwhile. */
  findLocked(id: string, dialect: Dialect): Promise<EndpointRow | undefined>
  /** False when the id is taken. */
  insert(row: EndpointRow): Promise<boolean>
  /** Returns the updated row. Throws not_found. */
  update(id: string, changes: Updateable<Tables['webhookEndpoints']>): Promise<EndpointRow>
  /** Lets another delivery probe the endpoint at once, unless the probe until `untilMs` has ended. */
  endProbe(id: string, untilMs: number | null, nowMs: number): Promise<void>
  /** True when this call made the endpoint inactive. */
  deactivate(id: string, nowMs: number): Promise<boolean>
  /** Throws not_found. */
  delete(id: string): Promise<void>
}

const findById = compiledOnce((handle, id: string) =>
  handle.selectFrom('webhookEndpoints').selectAll().where('id', '=', id),
)
const findByIds = compiledOnce((handle, ids: readonly string[]) =>
  handle.selectFrom('webhookEndpoints').selectAll().where('id', 'in', ids),
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
    async findAll(ids) {
      return byId(ids.length === 0 ? [] : await findByIds(handle, padded(ids)))
    },
    async get(id) {
      return (await find(id)) ?? missing(id)
    },
    async lock(id, dialect) {
      return (await this.findLocked(id, dialect)) ?? missing(id)
    },
    async lockAll(ids, dialect) {
      if (ids.length === 0) return new Map()
      const locked = all().where('id', 'in', padded(ids)).orderBy('id').modifyEnd(dialect.forUpdate)
      return byId(await locked.execute())
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
    async endProbe(id, untilMs, nowMs) {
      await handle
        .updateTable('webhookEndpoints')
        .set({ circuitProbeAt: nowMs })
        .where('id', '=', id)
        .where('circuitState', '=', 'half_open')
        .where('circuitProbeAt', '=', untilMs)
        .execute()
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

const byId = (rows: readonly EndpointRow[]) => new Map(rows.map((row) => [row.id, row]))

function missing(id: string): never {
  throw notFound('webhook endpoint', id)
}
