import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { compiledOnce, type Dialect, type Handle, type Tables } from '../../platform/db/index.ts'
import { AppError, notFound } from '../../platform/errors/app-error.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import { SHOWN_COLUMNS, type ShownRow } from './account-row.ts'

export type AccountRow = Selectable<Tables['accounts']>

const shown = compiledOnce((handle, id: string) =>
  handle
    .selectFrom('accounts')
    .select([...SHOWN_COLUMNS, 'syncRequestedAt'])
    .where('id', '=', id),
)
const anyErasure = compiledOnce((handle) => handle.selectFrom('accountErasures').select('accountId').limit(1))

/** Rows of `accounts` and `accountErasures`; `lock` and the writes only inside a transaction. */
export function accountStore(handle: Handle, dialect: Dialect) {
  const row = (id: string) => handle.selectFrom('accounts').selectAll().where('id', '=', id)
  return {
    find: (id: string): Promise<AccountRow | undefined> => row(id).executeTakeFirst(),

    async get(id: string): Promise<AccountRow> {
      const found = await row(id).executeTakeFirst()
      if (found === undefined) throw notFound('account', id)
      return found
    },

    /** What the API shows of the account, and the sync request, which every sync run reads. Throws not_found. */
    async shown(id: string): Promise<ShownRow & Pick<AccountRow, 'syncRequestedAt'>> {
      const [found] = await shown(handle, id)
      if (found === undefined) throw notFound('account', id)
      return found
    },

    /** The row, locked until the transaction ends. Throws not_found. */
    async lock(id: string): Promise<AccountRow> {
      const found = await row(id).modifyEnd(dialect.forUpdate).executeTakeFirst()
      if (found === undefined) throw notFound('account', id)
      return found
    },

    /** Locks the row until the transaction ends. Throws not_found. */
    async hold(id: string): Promise<void> {
      const { numUpdatedRows } = await handle
        .updateTable('accounts')
        .set((eb) => ({ dataVersion: eb('dataVersion', '+', 1) }))
        .where('id', '=', id)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw notFound('account', id)
    },

    lockByIdentity: (identity: string): Promise<AccountRow | undefined> =>
      handle
        .selectFrom('accounts')
        .selectAll()
        .where('identity', '=', identity)
        .modifyEnd(dialect.forUpdate)
        .executeTakeFirst(),

    /** Undefined when another account has this identity. Waits for concurrent transactions that insert it. */
    insert: (values: Insertable<Tables['accounts']>): Promise<AccountRow | undefined> =>
      handle
        .insertInto('accounts')
        .values(values)
        .onConflict((conflict) => conflict.column('identity').doNothing())
        .returningAll()
        .executeTakeFirst(),

    /** Applies a change that the API shows, and increments the version. */
    change: (id: string, changes: Updateable<Tables['accounts']>, now: number): Promise<AccountRow> =>
      handle
        .updateTable('accounts')
        .set({ ...changes, updatedAt: now })
        .set((eb) => ({ version: eb('version', '+', 1) }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),

    /** Stores refreshed tokens and ends the lease. Changes neither the version nor records an event. */
    async keepTokens(id: string, kept: { secrets: string; tokens: string }): Promise<void> {
      await handle
        .updateTable('accounts')
        .set({ ...kept, tokenLease: null, tokenLeaseUntil: null })
        .where('id', '=', id)
        .execute()
    },

    /** Takes the token lease for `holder`, for at most `leaseMs`, and returns the row. Undefined while another holds it. */
    takeTokenLease: (id: string, holder: string, leaseMs: number): Promise<AccountRow | undefined> =>
      handle
        .updateTable('accounts')
        .set({ tokenLease: holder, tokenLeaseUntil: sql<number>`${dialect.nowMs} + ${sql.lit(leaseMs)}` })
        .where('id', '=', id)
        .where((eb) => eb.or([eb('tokenLease', 'is', null), eb('tokenLeaseUntil', '<', sql<number>`${dialect.nowMs}`)]))
        .returningAll()
        .executeTakeFirst(),

    async endTokenLease(id: string, holder: string): Promise<void> {
      await handle
        .updateTable('accounts')
        .set({ tokenLease: null, tokenLeaseUntil: null })
        .where('id', '=', id)
        .where('tokenLease', '=', holder)
        .execute()
    },

    async setLastSync(id: string, now: number): Promise<void> {
      await handle.updateTable('accounts').set({ lastSyncAt: now }).where('id', '=', id).execute()
    },

    /** The accounts of a provider (null: any) with this customUserId and, unless it is null, this address in any case. */
    linked(provider: ProviderName | null, customUserId: string | null, email: string | null): Promise<AccountRow[]> {
      return handle
        .selectFrom('accounts')
        .selectAll()
        .$if(provider !== null, (query) => query.where('provider', '=', provider))
        .where('customUserId', customUserId === null ? 'is' : '=', customUserId)
        .$if(email !== null, (query) => query.where(sql`lower("email")`, '=', email?.toLowerCase() ?? ''))
        .limit(MAX_NAMED_IDS)
        .execute()
    },

    /** Deletes the account and inserts the row for its erasure and revocation. */
    async remove(id: string, now: number, revocation: string | null): Promise<void> {
      await handle.insertInto('accountErasures').values({ accountId: id, requestedAt: now, revocation }).execute()
      await handle.deleteFrom('accounts').where('id', '=', id).execute()
    },

    async pendingErasures(): Promise<string[]> {
      const rows = await handle.selectFrom('accountErasures').select('accountId').orderBy('requestedAt').execute()
      return rows.map((erasure) => erasure.accountId)
    },

    async isErasurePending(accountId: string): Promise<boolean> {
      const row = await handle
        .selectFrom('accountErasures')
        .select('accountId')
        .where('accountId', '=', accountId)
        .executeTakeFirst()
      return row !== undefined
    },

    async revocation(accountId: string): Promise<string | null> {
      const row = await handle
        .selectFrom('accountErasures')
        .select('revocation')
        .where('accountId', '=', accountId)
        .executeTakeFirst()
      return row?.revocation ?? null
    },

    async forgetRevocation(accountId: string): Promise<void> {
      await handle.updateTable('accountErasures').set({ revocation: null }).where('accountId', '=', accountId).execute()
    },

    /** Whether any account belongs to this user of the provider. */
    async hasUser(provider: ProviderName, providerUser: string): Promise<boolean> {
      const row = await handle
        .selectFrom('accounts')
        .select('id')
        .where('providerUser', '=', providerUser)
        .where('provider', '=', provider)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async forgetErasure(accountId: string): Promise<void> {
      await handle.deleteFrom('accountErasures').where('accountId', '=', accountId).execute()
    },
  }
}

/** The accounts among these whose erasure is not complete. No further events about them may be sent. */
export async function accountsBeingErased(handle: Handle, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  // The table is nearly always empty, and this query, unlike the next, has one text for any number of ids.
  if ((await anyErasure(handle)).length === 0) return new Set()
  const rows = await handle.selectFrom('accountErasures').select('accountId').where('accountId', 'in', ids).execute()
  return new Set(rows.map((row) => row.accountId))
}

/** Which of these are ids of accounts. */
export async function existingAccounts(handle: Handle, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await handle.selectFrom('accounts').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map((row) => row.id))
}

/** How many accounts there are. */
export async function countAccounts(handle: Handle): Promise<number> {
  const { count } = await handle
    .selectFrom('accounts')
    .select(sql<number | string>`count(*)`.as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** How many accounts cannot be synced, except paused ones and those whose credentials were refused. One lookup in an index. */
export async function countStalledAccounts(handle: Handle): Promise<number> {
  const { count } = await handle
    .selectFrom('accounts')
    .select(sql<number | string>`count(*)`.as('count'))
    .where('trouble', '=', 'error')
    .where('paused', '=', 0)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Whether a sign-in with these hints may concern an existing account. A customUserId decides alone, because it is part of
 * every account's identity; else the address does. True without either, as nothing is known.
 */
export async function mayBeLinked(
  handle: Handle,
  hints: { provider: ProviderName | null; customUserId: string | null; email: string | null },
): Promise<boolean> {
  const { provider, customUserId, email } = hints
  if (customUserId === null && email === null) return true
  const row = await handle
    .selectFrom('accounts')
    .select('id')
    .$if(provider !== null, (query) => query.where('provider', '=', provider))
    .where(customUserId !== null ? 'customUserId' : sql`lower("email")`, '=', customUserId ?? email?.toLowerCase())
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** An id, or a customUserId that exactly one account has. Throws not_found, or ambiguous_alias naming the ids. */
export async function resolveAccount(
  handle: Handle,
  idOrAlias: string,
): Promise<{ id: string; provider: ProviderName }> {
  const select = () => handle.selectFrom('accounts').select(['id', 'provider'])
  // The id wins, so that a customUserId equal to an account's id cannot hide that account.
  const byId = await select().where('id', '=', idOrAlias).executeTakeFirst()
  if (byId !== undefined) return byId
  const [first, ...others] = await select()
    .where('customUserId', '=', idOrAlias)
    .orderBy('id')
    .limit(MAX_NAMED_IDS)
    .execute()
  if (first === undefined) throw notFound('account', idOrAlias)
  if (others.length > 0) {
    const ids = [first, ...others].map((account) => account.id).join(', ')
    throw new AppError('ambiguous_alias', { message: `Several accounts have this customUserId; use an id: ${ids}.` })
  }
  return first
}

const MAX_NAMED_IDS = 20

/** The accounts with one of these addresses, whatever their case, in order of their ids. */
export async function accountsWithAddresses(
  handle: Handle,
  addresses: readonly string[],
): Promise<Pick<AccountRow, 'id' | 'email' | 'provider'>[]> {
  if (addresses.length === 0) return []
  return handle
    .selectFrom('accounts')
    .select(['id', 'email', 'provider'])
    .where(
      sql`lower("email")`,
      'in',
      addresses.map((address) => address.toLowerCase()),
    )
    .orderBy('id')
    .execute()
}

/** The ids of a provider's accounts with one of these addresses. */
export async function accountsAt(
  handle: Handle,
  provider: ProviderName,
  addresses: readonly string[],
): Promise<string[]> {
  const rows = await accountsWithAddresses(handle, addresses)
  return rows.flatMap((row) => (row.provider === provider ? row.id : []))
}
