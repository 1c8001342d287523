import type { Tx } from '../../infra/db/index.ts'
import { authSessionStore } from './store.ts'

/** Deletes up to `limit` sessions that expired before `beforeMs`; true when there may be more. */
export async function purgeAuthSessions(tx: Tx, beforeMs: number, limit: number): Promise<boolean> {
  return (await authSessionStore(tx).purge(beforeMs, limit)) === limit
}
