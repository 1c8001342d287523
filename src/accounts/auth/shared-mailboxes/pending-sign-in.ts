import { SealError, type Sealer } from '../../../platform/crypto/seal.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { ProviderUser, TokenSet } from '../../../providers/contract/index.ts'

/** A sign-in at Microsoft that is complete but not linked yet: the user still chooses the mailboxes. */
export interface PendingSignIn {
  tokens: TokenSet
  user: ProviderUser
  /** Addresses of shared mailboxes that opened with these tokens. */
  ready: readonly string[]
}

/**
 * Carries a sign-in from one step of the page to the next, so that nothing is stored for a user who leaves. Sealed, and bound to the session
 * and the state: it is worth nothing elsewhere, nor once the session is used.
 */
export function pendingSignIns(sealer: Sealer) {
  const buildContext = (sessionId: string, state: string) => JSON.stringify(['shared mailboxes', sessionId, state])
  return {
    issue: (signIn: PendingSignIn, sessionId: string, state: string): string =>
      sealer.seal(JSON.stringify(signIn), buildContext(sessionId, state)),

    /** Throws consent_used for a text that was not sealed for this page. */
    open(sealed: unknown, sessionId: string, state: string): PendingSignIn {
      try {
        if (typeof sealed !== 'string') throw new SealError('absent')
        return JSON.parse(sealer.open(sealed, buildContext(sessionId, state)))
      } catch (error) {
        if (!(error instanceof SealError)) throw error
        throw new AppError('consent_used', { cause: error })
      }
    },
  }
}

export type PendingSignIns = ReturnType<typeof pendingSignIns>
