import type { Selectable } from 'kysely'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import type { Handle, Tables } from '../../../platform/db/index.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'

/** Only `completed` and `expired` are final. A failed session returns to `started` on the next attempt. */
type SessionStatus = 'pending' | 'started' | 'completed' | 'failed' | 'expired'

/** A single-use invitation to connect a mailbox. Its code is in the link and nowhere in the database. */
export interface AuthSession {
  id: string
  status: SessionStatus
  provider: ProviderName | null
  /** The application chose `provider`, and the session accepts no other. */
  providerFixed: boolean
  email: string | null
  /** The address that the application named when it created the session. */
  invitedEmail: string | null
  customUserId: string | null
  redirectUri: string
  forceConsent: boolean
  /** The consent includes mailboxes that others share with the user. */
  sharedMailboxes: boolean
  accountId: string | null
  failureCode: string | null
  failureReason: string | null
  /** Language of the pages, as a BCP 47 tag. Null: the browser's. */
  locale: string | null
  /** Milliseconds. */
  expiresAt: number
}

type NewSession = Omit<AuthSession, 'status' | 'accountId' | 'failureCode' | 'failureReason'>

type Failure = Pick<AuthSession, 'failureCode' | 'failureReason'>

/** How codes and states are stored. They are random, so the hash needs neither salt nor stretching. */
export function hashSecret(secret: string): string {
  return sha256(secret, 'hex')
}

/**
 * Session rows. An update applies only while the session is open, that is, neither completed nor expired at `nowMs`. It
 * returns whether it applied, so exactly one of several concurrent requests succeeds.
 */
export function authSessionStore(handle: Handle) {
  const updateOpen = (id: string, nowMs: number) =>
    handle
      .updateTable('authSessions')
      .where('id', '=', id)
      .where('status', '!=', 'completed')
      .where('expiresAt', '>', nowMs)

  return {
    async insert(session: NewSession, code: string, nowMs: number): Promise<void> {
      const { providerFixed, forceConsent, sharedMailboxes, ...columns } = session
      await handle
        .insertInto('authSessions')
        .values({
          ...columns,
          codeHash: hashSecret(code),
          status: 'pending',
          providerFixed: Number(providerFixed),
          forceConsent: Number(forceConsent),
          sharedMailboxes: Number(sharedMailboxes),
          jsonStateHash: null,
          attempts: 0,
          accountId: null,
          failureCode: null,
          failureReason: null,
          createdAt: nowMs,
          updatedAt: nowMs,
        })
        .execute()
    },

    async find(code: string, nowMs: number): Promise<AuthSession | undefined> {
      const row = await handle
        .selectFrom('authSessions')
        .selectAll()
        .where('codeHash', '=', hashSecret(code))
        .executeTakeFirst()
      return row && fromRow(row, nowMs)
    },

    /** Starts an attempt. Stores the provider and the email when given. */
    async start(id: string, hints: { provider?: ProviderName; email?: string }, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await updateOpen(id, nowMs)
        .set({ status: 'started', failureCode: null, failureReason: null, updatedAt: nowMs, ...hints })
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Binds the session to the state of its first JSON call. Returns false for any other state. */
    async bindState(id: string, state: string, nowMs: number): Promise<boolean> {
      const jsonStateHash = hashSecret(state)
      const { numUpdatedRows } = await updateOpen(id, nowMs)
        .set({ jsonStateHash })
        .where((eb) => eb.or([eb('jsonStateHash', 'is', null), eb('jsonStateHash', '=', jsonStateHash)]))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Counts an attempt before it runs, so parallel attempts cannot exceed the limit together. */
    async takeAttempt(id: string, limit: number, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await updateOpen(id, nowMs)
        .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
        .where('attempts', '<', limit)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async returnAttempt(id: string): Promise<void> {
      await handle
        .updateTable('authSessions')
        .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
        .where('id', '=', id)
        .where('attempts', '>', 0)
        .execute()
    },

    async fail(id: string, failure: Failure, nowMs: number): Promise<void> {
      await updateOpen(id, nowMs)
        .set({ status: 'failed', ...failure, updatedAt: nowMs })
        .execute()
    },

    /** Uses up the session. Returns false if another request completed it, or it has expired. */
    async complete(id: string, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await updateOpen(id, nowMs)
        .set({ status: 'completed', failureCode: null, failureReason: null, updatedAt: nowMs })
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async setAccount(id: string, account: { id: string; provider: ProviderName; email: string }): Promise<void> {
      const { id: accountId, provider, email } = account
      await handle.updateTable('authSessions').set({ accountId, provider, email }).where('id', '=', id).execute()
    },

    /** Deletes up to `limit` sessions that expired before `beforeMs`. Returns how many it deleted. */
    async purge(beforeMs: number, limit: number): Promise<number> {
      const expired = handle.selectFrom('authSessions').select('id').where('expiresAt', '<', beforeMs).limit(limit)
      const { numDeletedRows } = await handle.deleteFrom('authSessions').where('id', 'in', expired).executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

function fromRow(row: Selectable<Tables['authSessions']>, nowMs: number): AuthSession {
  const { id, provider, email, customUserId, redirectUri, accountId, failureCode, failureReason, locale, expiresAt } =
    row
  return {
    id,
    status: row.status !== 'completed' && expiresAt <= nowMs ? 'expired' : row.status,
    provider,
    providerFixed: row.providerFixed === 1,
    email,
    invitedEmail: row.invitedEmail,
    customUserId,
    redirectUri,
    forceConsent: row.forceConsent === 1,
    sharedMailboxes: row.sharedMailboxes === 1,
    accountId,
    failureCode,
    failureReason,
    locale,
    expiresAt,
  }
}
