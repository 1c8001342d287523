import type { Tx } from '../../infra/db/index.ts'
import { consentStore } from './oauth/store.ts'
import { authSessionStore } from './sessions/store.ts'

/** Deletes up to `limit` sessions that expired before `beforeMs`, and as many consents; true when there may be more. */
export async function purgeAuthSessions(tx: Tx, beforeMs: number, limit: number): Promise<boolean> {
  const consents = await consentStore(tx).purge(beforeMs, limit)
  return Math.max(consents, await authSessionStore(tx).purge(beforeMs, limit)) === limit
}
