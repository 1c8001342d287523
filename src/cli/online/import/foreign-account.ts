import type { NewImapAccount, NewImapOAuthAccount, NewOAuthAccount } from '@posthorn/sdk'
import { isEmailAddress } from '../../../platform/formats/email-address.ts'

/** An account of another service as its record describes it, without its secrets. */
export interface ForeignAccount {
  /** Its id there, which becomes the `customUserId`. */
  id: string | null
  email: string | null
  /** What it is here. Null where it can be nothing. */
  provider: 'gmail' | 'microsoft' | 'imap' | null
  verdict: Verdict
}

export type NewAccount = NewImapAccount | NewImapOAuthAccount | NewOAuthAccount

/** What can be done with an account. The reasons contain nothing of the record. */
export type Verdict =
  | {
      kind: 'ready'
      /** The body of `POST /accounts`. It contains secrets. */
      body: NewAccount
      /** The OAuth client that the refresh token was issued to, if the record names it. */
      clientId?: string | undefined
    }
  /** The user has to sign in once more. */
  | { kind: 'needs_consent'; reason: string }
  | { kind: 'unsupported'; reason: string }
  /** Another export, or another record, may do. */
  | { kind: 'invalid'; reason: string }

/** The sign-ins that the service is set up for. Undefined where the key may not read them. */
export interface SignIns {
  /** The OAuth client of each provider; null when it is not configured. */
  clients: Readonly<Record<'gmail' | 'microsoft', string | null>> | undefined
  /** The names in OAUTH_PROVIDERS. */
  oauthProviders: ReadonlySet<string> | undefined
}

/** Reads the record of one service. */
export type ReadAccount = (record: Readonly<Record<string, unknown>>, signIns: SignIns) => ForeignAccount

export const needsConsent = (reason: string): Verdict => ({ kind: 'needs_consent', reason })
export const unsupported = (reason: string): Verdict => ({ kind: 'unsupported', reason })
export const invalid = (reason: string): Verdict => ({ kind: 'invalid', reason })

/** The first of these texts that is an address. */
export function firstAddress(...texts: (string | undefined)[]): string | null {
  return texts.find((text) => text !== undefined && isEmailAddress(text)) ?? null
}
