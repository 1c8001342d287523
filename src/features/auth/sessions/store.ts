import type { Selectable } from 'kysely'
import type { Handle, Tables } from '../../../infra/db/index.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { type AuthSession, hashOf } from './session.ts'

export type NewSession = Omit<AuthSession, 'status' | 'accountId' | 'failureCode'>

/**
 * The sessions. Every change applies only to a session that is still open (neither completed nor expired at `nowMs`) and
 * answers whether it did, so that of two requests that race one wins.
 */
export function authSessionStore(handle: Handle) {
  const openSession = (id: string, nowMs: number) =>
    handle
      .updateTable('authSessions')
      .where('id', '=', id)
      .where('status', '!=', 'completed')
      .where('expiresAt', '>', nowMs)

  return {
    async insert(session: NewSession, code: string, nowMs: number): Promise<void> {
      const { providerFixed, forceConsent, ...columns } = session
      await handle
        .insertInto('authSessions')
        .values({
          ...columns,
          codeHash: hashOf(code),
          status: 'pending',
          providerFixed: Number(providerFixed),
          forceConsent: Number(forceConsent),
          jsonStateHash: null,
          attempts: 0,
          accountId: null,
          failureCode: null,
          createdAt: nowMs,
          updatedAt: nowMs,
        })
        .execute()
    },

    async find(code: string, nowMs: number): Promise<AuthSession | undefined> {
      const row = await handle
        .selectFrom('authSessions')
        .selectAll()
        .where('codeHash', '=', hashOf(code))
        .executeTakeFirst()
      return row && fromRow(row, nowMs)
    },

    /** A try begins; what is given of provider and email is kept. */
    async begin(id: string, given: { provider?: ProviderName; email?: string }, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await openSession(id, nowMs)
        .set({ status: 'started', failureCode: null, updatedAt: nowMs, ...given })
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** True when this is the state of the session's JSON calls; the first one binds it. */
    async bindState(id: string, state: string, nowMs: number): Promise<boolean> {
      const jsonStateHash = hashOf(state)
      const { numUpdatedRows } = await openSession(id, nowMs)
        .set({ jsonStateHash })
        .where((eb) => eb.or([eb('jsonStateHash', 'is', null), eb('jsonStateHash', '=', jsonStateHash)]))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Counts an attempt before it is made, so that parallel ones cannot pass the limit together. */
    async takeAttempt(id: string, limit: number, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await openSession(id, nowMs)
        .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
        .where('attempts', '<', limit)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** The attempt was no failure. */
    async giveAttemptBack(id: string): Promise<void> {
      await handle
        .updateTable('authSessions')
        .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
        .where('id', '=', id)
        .where('attempts', '>', 0)
        .execute()
    },

    async fail(id: string, failureCode: string, nowMs: number): Promise<void> {
      await openSession(id, nowMs).set({ status: 'failed', failureCode, updatedAt: nowMs }).execute()
    },

    /** Uses the session up. False when another request did, or it expired meanwhile. */
    async complete(id: string, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await openSession(id, nowMs)
        .set({ status: 'completed', failureCode: null, updatedAt: nowMs })
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async setAccount(id: string, account: { id: string; provider: ProviderName; email: string }): Promise<void> {
      const { id: accountId, provider, email } = account
      await handle.updateTable('authSessions').set({ accountId, provider, email }).where('id', '=', id).execute()
    },

    /** Deletes at most `limit` sessions that expired before `beforeMs`; answers how many. */
    async purge(beforeMs: number, limit: number): Promise<number> {
      const old = handle.selectFrom('authSessions').select('id').where('expiresAt', '<', beforeMs).limit(limit)
      const { numDeletedRows } = await handle.deleteFrom('authSessions').where('id', 'in', old).executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

function fromRow(row: Selectable<Tables['authSessions']>, nowMs: number): AuthSession {
  const { id, provider, email, customUserId, redirectUri, accountId, failureCode, expiresAt } = row
  return {
    id,
    status: row.status !== 'completed' && expiresAt <= nowMs ? 'expired' : row.status,
    provider,
    providerFixed: row.providerFixed === 1,
    email,
    customUserId,
    redirectUri,
    forceConsent: row.forceConsent === 1,
    accountId,
    failureCode,
    expiresAt,
  }
}
