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

/** One consent that is asked for at a provider. Its state is known to the provider and the browser, here only as a hash. */
interface OAuthFlowTable {
  stateHash: string
  sessionId: string
  provider: 'gmail' | 'microsoft' | 'imap'
  /** `ConsentFacts` as JSON, sealed with context `consent:<stateHash>`; empty once it was used. */
  facts: string
  usedAt: number | null
  expiresAt: number
  createdAt: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    authSessions: AuthSessionTable
    oauthFlows: OAuthFlowTable
  }
}
