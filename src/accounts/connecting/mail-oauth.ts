import { randomUUID } from 'node:crypto'
import { type MailProvider, ProviderError, type TokenSet } from '../../providers/contract/index.ts'
import { type MailOAuthProvider, mailSettings } from '../../providers/mail-oauth/index.ts'
import type { LinkAccount } from '../identity/account.ts'
import { checkMailbox } from './mailbox-check.ts'
import { openSharedMailbox, sharedMailbox } from './shared-account.ts'

const CHECK_MS = 15_000

interface MailSignIn {
  provider: MailOAuthProvider
  /** The username at the mail servers. */
  email: string
  tokens: TokenSet
}

/**
 * The account of a mailbox whose user signed in by OAuth. Logs in to its mail server first, which proves that the tokens are for this
 * mailbox. Throws `ProviderError`.
 */
export async function verifiedMailAccount(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  { provider, email, tokens }: MailSignIn,
): Promise<Omit<LinkAccount, 'customUserId'>> {
  const settings = mailSettings(provider, email)
  // A unique id, so that a check that hangs does not block the request connections of others.
  const accountId = `unsaved-${randomUUID()}`
  const accessToken = async (refused?: string) => {
    if (refused === undefined) return tokens.accessToken
    throw new ProviderError('auth_expired', 'the mail server refuses the access token that was issued for it')
  }
  try {
    await mail.verify({ accountId, email, settings, secrets: {}, accessToken }, AbortSignal.timeout(CHECK_MS))
  } finally {
    await mail.closeConnections(accountId)
  }
  const { host, username, mailbox } = settings.imap
  return {
    provider: 'imap',
    email,
    providerUser: JSON.stringify([host, username, mailbox]),
    settings,
    secrets: {},
    tokens,
  }
}

/** The checks of mailboxes whose users signed in by OAuth, at an API and at a mail server, and of those that others share with them. */
export const oauthMailboxes = {
  check: checkMailbox,
  verifyAtMailServer: verifiedMailAccount,
  openShared: openSharedMailbox,
  toShared: sharedMailbox,
}
