/** One hosted authentication session. Only the hash of its code is stored. */
interface AuthSessionTable {
  id: string
  codeHash: string
  /** `expired` is never stored: it is what the others are after `expiresAt`, `completed` excepted. */
  status: 'pending' | 'started' | 'completed' | 'failed'
  provider: 'gmail' | 'microsoft' | 'imap' | null
  /** 1: the provider was given at creation, and no other may be connected. */
  providerFixed: number
  email: string | null
  customUserId: string | null
  redirectUri: string
  forceConsent: number
  /** The state that JSON posts of this session must carry; bound by the first. Hashed. */
  jsonStateHash: string | null
  /** IMAP attempts that failed or still run; limited per session. */
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
