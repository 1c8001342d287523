/** One hosted authentication session. Only the hash of its code is stored. */
interface AuthSessionTable {
  id: string
  codeHash: string
  status: 'pending' | 'started' | 'completed' | 'failed' | 'expired'
  provider: 'gmail' | 'microsoft' | 'imap' | null
  email: string | null
  customUserId: string | null
  redirectUri: string
  forceConsent: number
  /** The state that JSON posts of this session must carry; bound by the first. Hashed. */
  jsonStateHash: string | null
  /** Failed IMAP attempts, limited per session. */
  attempts: number
  accountId: string | null
  failureCode: string | null
  expiresAt: number
  createdAt: number
  updatedAt: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    authSessions: AuthSessionTable
  }
}
