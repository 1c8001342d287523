import { type Insertable, sql, type Updateable } from 'kysely'
import type { Dialect, Handle, Tables } from '../../platform/db/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import type { ConnectionRow } from './tables.ts'

/** Rows of connections, and which accounts use them; `lock` and the writes only inside a transaction. */
export function connectionStore(handle: Handle, dialect: Dialect) {
  const row = (id: string) => handle.selectFrom('connections').selectAll().where('id', '=', id)
  return {
    find: (id: string): Promise<ConnectionRow | undefined> => row(id).executeTakeFirst(),

    async get(id: string): Promise<ConnectionRow> {
      return (await row(id).executeTakeFirst()) ?? missing(id)
    },

    /** The row, locked until the transaction ends: no account is linked to it meanwhile. Throws not_found. */
    async lock(id: string): Promise<ConnectionRow> {
      return (await row(id).modifyEnd(dialect.forUpdate).executeTakeFirst()) ?? missing(id)
    },

    /** Newest first, one more than `limit` when there are more. */
    list({ after, offset, limit }: PageRequest<readonly [string]>): Promise<ConnectionRow[]> {
      const [before] = after ?? []
      return handle
        .selectFrom('connections')
        .selectAll()
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .offset(offset)
        .execute()
    },

    async count(): Promise<number> {
      const { count } = await handle
        .selectFrom('connections')
        .select(sql<number | string>`count(*)`.as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    async insert(values: Insertable<Tables['connections']>): Promise<ConnectionRow> {
      return handle.insertInto('connections').values(values).returningAll().executeTakeFirstOrThrow()
    },

    /** Applies a change that the API shows, and increments the version. */
    change: (id: string, changes: Updateable<Tables['connections']>, now: number): Promise<ConnectionRow> =>
      handle
        .updateTable('connections')
        .set({ ...changes, updatedAt: now })
        .set((eb) => ({ version: eb('version', '+', 1) }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),

    /** Records whether the provider accepted the credentials of this version. */
    async setStatus(
      { id, version }: ConnectionRow,
      status: ConnectionRow['status'],
      statusReason: string | null,
      now: number,
    ): Promise<void> {
      await handle
        .updateTable('connections')
        .set({ status, statusReason, updatedAt: now })
        .where('id', '=', id)
        .where('version', '=', version)
        .execute()
    },

    async delete(id: string): Promise<void> {
      await handle.deleteFrom('connectionTokens').where('connectionId', '=', id).execute()
      await handle.deleteFrom('connections').where('id', '=', id).execute()
    },

    /** How many accounts use each of these connections. */
    async accountCounts(ids: readonly string[]): Promise<Map<string, number>> {
      if (ids.length === 0) return new Map()
      const rows = await handle
        .selectFrom('accounts')
        .select(['connectionId', sql<number | string>`count(*)`.as('count')])
        .where('connectionId', 'in', ids)
        .groupBy('connectionId')
        .execute()
      return new Map(rows.map(({ connectionId, count }) => [connectionId ?? '', Number(count)]))
    },

    /** The next accounts of the connection after this id. */
    async accountIds(id: string, after: string, limit: number, status?: 'auth_error'): Promise<string[]> {
      const rows = await handle
        .selectFrom('accounts')
        .select('id')
        .where('connectionId', '=', id)
        .where('id', '>', after)
        .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'auth_error'))
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map((account) => account.id)
    },

    /** The accounts of the connection with these addresses, by address in lower case. */
    async accountsAt(id: string, emails: readonly string[]): Promise<Map<string, string>> {
      if (emails.length === 0) return new Map()
      const rows = await handle
        .selectFrom('accounts')
        .select(['id', 'email'])
        .where('connectionId', '=', id)
        .where(
          sql`lower("email")`,
          'in',
          emails.map((email) => email.toLowerCase()),
        )
        // Where an address has passed on, the account of its owner is the newer one.
        .orderBy('id')
        .execute()
      return new Map(rows.map((account) => [account.email.toLowerCase(), account.id]))
    },
  }
}

function missing(id: string): never {
  throw notFound('connection', id)
}
