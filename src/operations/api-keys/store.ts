import type { Handle } from '../../platform/db/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import type { ApiKeyRow } from './tables.ts'

/** Rows of API keys. The methods that write need a `Tx`, except `markUsed`. */
export function apiKeyStore(handle: Handle) {
  const all = () => handle.selectFrom('apiKeys').selectAll()
  return {
    findByHash: (keyHash: string): Promise<ApiKeyRow | undefined> =>
      all().where('keyHash', '=', keyHash).executeTakeFirst(),

    async get(id: string): Promise<ApiKeyRow> {
      return (await all().where('id', '=', id).executeTakeFirst()) ?? missing(id)
    },

    /** Newest first, one more than `limit` when there are more. */
    list({ after, offset, limit }: PageRequest<readonly [string]>): Promise<ApiKeyRow[]> {
      const [before] = after ?? []
      return all()
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .offset(offset)
        .execute()
    },

    async count(): Promise<number> {
      const { count } = await handle
        .selectFrom('apiKeys')
        .select((eb) => eb.fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    async insert(row: ApiKeyRow): Promise<void> {
      await handle.insertInto('apiKeys').values(row).execute()
    },

    /** Returns the deleted row. Throws not_found. */
    async delete(id: string): Promise<ApiKeyRow> {
      const row = await handle.deleteFrom('apiKeys').where('id', '=', id).returningAll().executeTakeFirst()
      return row ?? missing(id)
    },

    /** Has no effect when another instance wrote a time after `unlessAfterMs`. */
    async markUsed(id: string, nowMs: number, unlessAfterMs: number): Promise<void> {
      await handle
        .updateTable('apiKeys')
        .set({ lastUsedAt: nowMs })
        .where('id', '=', id)
        .where(({ eb, or }) => or([eb('lastUsedAt', 'is', null), eb('lastUsedAt', '<=', unlessAfterMs)]))
        .execute()
    },
  }
}

function missing(id: string): never {
  throw notFound('API key', id)
}
