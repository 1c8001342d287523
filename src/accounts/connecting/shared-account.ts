import type { Db } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { isEmailAddress } from '../../platform/formats/email-address.ts'
import {
  type MailAccess,
  type MailProvider,
  missingForShared,
  ProviderError,
  type ProviderName,
} from '../../providers/contract/index.ts'
import type { Account, Accounts, LinkAccount } from '../identity/account.ts'
import { toAppError } from '../mailbox/live-mailbox.ts'
import { sharedScopesMissing } from '../tokens/required-scopes.ts'
import { openMailboxOnce } from './mailbox-check.ts'

interface SharedAccountDeps {
  db: Db
  accounts: Pick<Accounts, 'access' | 'get' | 'resolve'>
  mail(provider: ProviderName): Pick<MailProvider, 'verify' | 'closeConnections'> | undefined
}

/** A request to connect a mailbox that somebody shares with the user of a connected account. */
interface SharedAccountRequest {
  sharedWith: string
  mailbox: string | undefined
  customUserId: string | null
}

/** A shared mailbox, without the account that opens it. */
type SharedMailbox = Omit<LinkAccount, 'customUserId' | 'sharedWith'>

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
  const missing = missingForShared(user.tokens.scopes, ['mail.read'])
  if (missing.length > 0) throw sharedScopesMissing(user.id, missing)
  try {
    const { accessToken } = await deps.accounts.access(user.id)
    const mail = deps.mail(user.provider)
    if (mail !== undefined && accessToken !== undefined) await openSharedMailbox(mail, email, accessToken)
  } catch (error) {
    throw mailboxFailure(error)
  }
  return { ...sharedMailbox(email), customUserId, sharedWith: user.id }
}

/** Opens the mailbox once with the token of the user. Throws `ProviderError`. */
export async function openSharedMailbox(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  email: string,
  accessToken: NonNullable<MailAccess['accessToken']>,
): Promise<void> {
  await openMailboxOnce(mail, { email, settings: sharedMailbox(email).settings, accessToken })
}

export function sharedMailbox(email: string): SharedMailbox {
  return {
    provider: 'microsoft',
    email,
    // One mailbox is one account, also when another user opens it.
    providerUser: JSON.stringify(['mailbox', email.toLowerCase()]),
    settings: { graph: { user: email } },
    secrets: {},
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

function mailboxFailure(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.kind === 'rejected' || error.kind === 'not_found') {
    return invalid('body.mailbox', `is not a mailbox that the user may open (${error.message})`)
  }
  return toAppError(error, 'The mailbox')
}
