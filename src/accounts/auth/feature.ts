import type { Feature } from '../../feature.ts'
import type { Tx } from '../../platform/db/index.ts'
import { SEALED_CONSENTS } from './oauth/consents.ts'
import { consentStore } from './oauth/store.ts'
import { authSessionStore } from './sessions/store.ts'

export const authFeature = {
  name: 'auth',
  tables: {
    authSessions: { deletedBy: ['purge'], outlivesAccount: 'The application may still ask how the session ended.' },
    oauthFlows: { deletedBy: ['purge'] },
  },
  purge: [{ rows: 'sessions', purge: purgeAuthSessions, keptFor: 'retentionSessionsDays' }],
  sealedColumns: [SEALED_CONSENTS],
} as const satisfies Feature

/** Deletes up to `limit` expired sessions and as many expired consents. Returns how many. */
export async function purgeAuthSessions(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const consents = await consentStore(tx).purge(beforeMs, limit)
  const sessions = await authSessionStore(tx).purge(beforeMs, limit)
  return consents + sessions
}
