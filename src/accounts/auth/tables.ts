import type { Generated } from 'kysely'
import type { ProviderName } from '../../providers/contract/index.ts'

/** One hosted session. The database contains only the hash of its code. */
interface AuthSessionTable {
  id: string
  codeHash: string
  /** `expired` is never stored. Any status but `completed` becomes `expired` at `expiresAt`. */
  status: 'pending' | 'started' | 'completed' | 'failed'
  provider: ProviderName | null
  /** 1: the application chose the provider, and the session accepts no other. */
  providerFixed: number
  email: string | null
  customUserId: string | null
  redirectUri: string
  forceConsent: number
  /** 1: the consent includes the scopes for mailboxes that others share with the user. */
  sharedMailboxes: Generated<number>
  /** Hash of the state of the session's first JSON call. Later JSON calls must use the same state. */
  jsonStateHash: string | null
  /** IMAP sign-ins that failed or are running. */
  attempts: number
  accountId: string | null
  failureCode: string | null
  /** The code of the error's detail. */
  failureReason: string | null
  /** BCP 47 tag that the application chose for the pages. */
  locale: string | null
  invitedEmail: string | null
  expiresAt: number
  createdAt: number
  updatedAt: number
}

/** One consent requested at a provider. The provider and the browser know its state; the row has only the hash. */
interface OAuthFlowTable {
  stateHash: string
  sessionId: string
  /** `gmail`, `microsoft`, or a name in OAUTH_PROVIDERS. */
  provider: string
  /** `ConsentFacts` as JSON, sealed with context `consent:<stateHash>`. Empty once used. */
  facts: string
  usedAt: number | null
  expiresAt: number
  createdAt: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    authSessions: AuthSessionTable
    oauthFlows: OAuthFlowTable
  }
}
