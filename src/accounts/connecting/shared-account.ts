import type { Db } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { isEmailAddress } from '../../platform/formats/email-address.ts'
import {
  type MailProvider,
  missingForShared,
  ProviderError,
  type ProviderName,
} from '../../providers/contract/index.ts'
import type { Account, Accounts, LinkAccount } from '../identity/account.ts'
import { toAppError } from '../mailbox/live-mailbox.ts'
import { checkMailbox } from './mailbox-check.ts'

export interface SharedAccountDeps {
  db: Db
  accounts: Pick<Accounts, 'access' | 'get' | 'resolve'>
  mail(provider: ProviderName): Pick<MailProvider, 'verify' | 'closeConnections'> | undefined
}

/** A request to connect a mailbox that somebody shares with the user of a connected account. */
export interface SharedAccountRequest {
  sharedWith: string
  mailbox: string | undefined
  customUserId: string | null
}

/** Checks that the user may open the mailbox, and returns the account to link. Throws validation_failed, and consent_required. */
export async function verifiedSharedAccount(
  deps: SharedAccountDeps,
  { sharedWith, mailbox, customUserId }: SharedAccountRequest,
): Promise<LinkAccount> {
  const user = await findUser(deps, sharedWith)
  const email = mailbox?.trim()
  if (!email) throw invalid('body.mailbox', 'is required: the address of the shared mailbox')
  if (!isEmailAddress(email)) throw invalid('body.mailbox', 'is not an email address')
  if (email.toLowerCase() === user.email.toLowerCase()) {
    throw invalid('body.mailbox', "is the user's own mailbox, which is connected already")
  }
  requireSharedScopes(user)
  const settings = { graph: { user: email } }
  try {
    const { accessToken } = await deps.accounts.access(user.id)
    const mail = deps.mail(user.provider)
    if (mail !== undefined && accessToken !== undefined) await checkMailbox(mail, { email, settings, accessToken })
  } catch (error) {
    throw mailboxFailure(error)
  }
  return {
    provider: user.provider,
    email,
    customUserId,
    // One mailbox is one account, also when another user opens it.
    providerUser: JSON.stringify(['mailbox', email.toLowerCase()]),
    settings,
    secrets: {},
    sharedWith: user.id,
  }
}

async function findUser({ db, accounts }: SharedAccountDeps, idOrAlias: string): Promise<Account> {
  const user = await accounts
    .resolve(db.read, idOrAlias)
    .then(({ id }) => accounts.get(id))
    .catch((error: unknown) => {
      const isUnknown = error instanceof AppError && error.code === 'not_found'
      throw isUnknown ? invalid('body.sharedWith', 'is not the id of an account') : error
    })
  if (user.provider !== 'microsoft' || user.connectionId !== null || user.sharedWith !== null) {
    throw invalid('body.sharedWith', 'must be an account of microsoft whose user has signed in')
  }
  return user
}

function requireSharedScopes({ tokens }: Account): void {
  const missing = missingForShared(tokens.scopes)
  if (missing.length === 0) return
  throw new AppError('consent_required', {
    message: `The user did not grant ${missing.join(' and ')}. Send the user through a new session with sharedMailboxes (POST /auth/sessions).`,
    details: missing.map((scope) => ({ path: 'account.tokens.scopes', message: scope })),
  })
}

function mailboxFailure(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.kind === 'rejected' || error.kind === 'not_found') {
    return invalid('body.mailbox', `is not a mailbox that the user may open (${error.message})`)
  }
  return toAppError(error, 'The mailbox')
}
