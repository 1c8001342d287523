import type { Insertable, Updateable } from 'kysely'
import type { Handle, Tables } from '../../infra/db/index.ts'
import { notFound } from '../../lib/errors.ts'
import type { EndpointRow } from './endpoint.ts'

export interface EndpointStore {
  /** By id, so oldest first for generated ids. */
  list(): Promise<EndpointRow[]>
  listActive(): Promise<EndpointRow[]>
  find(id: string): Promise<EndpointRow | undefined>
  get(id: string): Promise<EndpointRow>
  insert(row: Insertable<Tables['webhookEndpoints']>): Promise<void>
  /** Answers the row as it is now; throws not_found. */
  update(id: string, changes: Updateable<Tables['webhookEndpoints']>): Promise<EndpointRow>
  /** True when it became inactive by this call. */
  deactivate(id: string, nowMs: number): Promise<boolean>
  delete(id: string): Promise<boolean>
}

export function endpointStore(handle: Handle): EndpointStore {
  const all = () => handle.selectFrom('webhookEndpoints').selectAll()
  const find = (id: string) => all().where('id', '=', id).executeTakeFirst()
  return {
    list: () => all().orderBy('id').execute(),
    listActive: () => all().where('isActive', '=', 1).orderBy('id').execute(),
    find,
    async get(id) {
      return (await find(id)) ?? missing(id)
    },
    async insert(row) {
      await handle.insertInto('webhookEndpoints').values(row).execute()
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
      return numDeletedRows === 1n
    },
  }
}

function missing(id: string): never {
  throw notFound('webhook endpoint', id)
}
