import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { compiledOnce, type Dialect, type Handle, type Tables } from '../../platform/db/index.ts'
import { AppError, notFound } from '../../platform/errors/app-error.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import { SHOWN_COLUMNS, type ShownRow } from './account-row.ts'

export type AccountRow = Selectable<Tables['accounts']>

/** Shared mailboxes of one account; a person has a few. */
const MAX_SHARED = 200

const shown = compiledOnce((handle, id: string) =>
  handle
    .selectFrom('accounts')
    .select([...SHOWN_COLUMNS, 'syncRequestedAt'])
    .where('id', '=', id),
)

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

    /** Reads the columns that the API shows, and the sync request, which every sync run reads. Throws not_found. */
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

    /** The shared mailboxes that are opened with the tokens of this account. */
    async sharedWith(id: string, status?: AccountRow['status']): Promise<string[]> {
      const rows = await handle
        .selectFrom('accounts')
        .select('id')
        .where('sharedWith', '=', id)
        .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'auth_error'))
        .orderBy('id')
        .limit(MAX_SHARED)
        .execute()
      return rows.map((account) => account.id)
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
