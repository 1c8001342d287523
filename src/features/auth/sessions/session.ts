import { createHash } from 'node:crypto'
import { isoTime } from '../../../lib/time.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'

/**
 * `pending → started → completed | failed`, `failed → started` on a new try. Only `completed` and `expired` are final.
 */
export type SessionStatus = 'pending' | 'started' | 'completed' | 'failed' | 'expired'

/** One invitation to connect a mailbox. Its code is known to whoever was given the link, and to nobody here. */
export interface AuthSession {
  id: string
  status: SessionStatus
  provider: ProviderName | null
  /** The application asked for this provider and no other. */
  providerFixed: boolean
  email: string | null
  customUserId: string | null
  redirectUri: string
  forceConsent: boolean
  accountId: string | null
  failureCode: string | null
  /** Milliseconds. */
  expiresAt: number
}

/** A session as `GET /auth/sessions/{code}` shows it. */
export function sessionView(session: AuthSession) {
  const { status, provider, email, accountId, failureCode } = session
  return { status, provider, email, accountId, failureCode, expiresAt: isoTime(session.expiresAt) }
}

/** What is stored and looked up instead of a code or a state. They have 256 bits, or are not secret: no salt, no stretching. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
