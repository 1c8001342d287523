import type { Db } from '../../platform/db/index.ts'
import { invalid } from '../../platform/errors/app-error.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { isEmailAddress } from '../../platform/formats/email-address.ts'
import {
  type DirectoryUser,
  type MailProvider,
  ProviderError,
  type ProviderName,
  type RemoteFolder,
  type TenantProviderName,
} from '../../providers/contract/index.ts'
import { checkMailbox } from '../connecting/mailbox-check.ts'
import type { LinkAccount } from '../identity/account.ts'
import { cleanAlias } from '../identity/account-row.ts'
import { type DirectoryDeps, directoryAccess, toConnectionError } from './directory.ts'
import { isRefusalOfMailbox } from './refusal.ts'
import { connectionStore } from './store.ts'
import type { ConnectionRow } from './tables.ts'
import { identifyMailbox } from './tenant-identity.ts'

interface TenantAccountDeps extends DirectoryDeps {
  db: Db
  mail(provider: ProviderName): Pick<MailProvider, 'verify' | 'closeConnections'> | undefined
}

/** A request to connect a mailbox of a tenant, without the consent of its user. */
interface TenantAccountRequest {
  connectionId: string
  provider: ProviderName | undefined
  email: string | undefined
  customUserId: string | null
}

/** Checks that the connection opens the mailbox, and returns the account to link. Throws validation_failed, naming the field. */
export async function verifiedTenantAccount(
  deps: TenantAccountDeps,
  { connectionId, provider, email, customUserId }: TenantAccountRequest,
): Promise<LinkAccount> {
  const connection = await connectionStore(deps.db.read, deps.db.dialect).find(connectionId)
  if (connection === undefined) throw invalid('body.connectionId', 'is not the id of a connection')
  if (provider !== undefined && provider !== connection.provider) {
    throw invalid('body.provider', `must be ${connection.provider}, as that of the connection`)
  }
  const address = email?.trim()
  if (!address) throw invalid('body.email', 'is required: the address of a mailbox of the tenant')
  if (!isEmailAddress(address)) throw invalid('body.email', 'is not an email address')
  const tenant = deps.tenants[connection.provider]
  const user = await findUser(deps, connection, address)
  const mailbox = {
    email: user?.email ?? address,
    settings: tenant.mailboxSettings(user?.id ?? address, JSON.parse(connection.settings)),
  }
  const request = {
    connectionId,
    provider: connection.provider,
    purpose: { mailbox: mailbox.email, ...(user !== undefined && { userId: user.id }) },
    isConfirmed: user !== undefined,
    isTrial: true,
  }
  const accessToken = (refused?: string) => deps.tokens.accessToken(request, refused)
  const folders = await openMailbox(deps, connection.provider, { ...mailbox, accessToken, isApplication: true })
  const settings = tenant.identifiedBy(mailbox.settings, folders)
  const opened = { ...mailbox, settings, connectionId, customUserId: cleanAlias(customUserId), userId: user?.id }
  return {
    email: mailbox.email,
    provider: connection.provider,
    customUserId,
    ...(await identifyMailbox(deps.db, opened)),
    secrets: {},
    connectionId,
  }
}

async function openMailbox(
  deps: TenantAccountDeps,
  provider: TenantProviderName,
  mailbox: Parameters<typeof checkMailbox>[1],
): Promise<RemoteFolder[]> {
  try {
    // Before the mailbox is opened: a refused token is no failure of the check.
    await mailbox.accessToken()
    const mail = deps.mail(provider)
    return mail === undefined ? [] : await checkMailbox(mail, mailbox)
  } catch (error) {
    throw mailboxFailure(error, deps.tenants[provider].hasTokenPerMailbox)
  }
}

/** The id stays the same when the address changes, so it is used where the directory can be read. */
async function findUser(
  deps: TenantAccountDeps,
  { id, provider }: ConnectionRow,
  email: string,
): Promise<DirectoryUser | undefined> {
  const access = directoryAccess(deps.tokens, { connectionId: id, provider })
  let user: DirectoryUser | undefined
  try {
    user = await deps.tenants[provider].findUser(access, email)
  } catch (error) {
    rethrowProgrammingError(error)
    if (!(error instanceof ProviderError)) throw error
    if (error.kind === 'auth_expired') throw toConnectionError(error)
    // The permission for the directory is missing, or it does not respond: the mailbox itself is checked next.
    return undefined
  }
  if (user === undefined) throw invalid('body.email', 'is not the address of a user of this tenant')
  return user
}

function mailboxFailure(error: unknown, hasTokenPerMailbox: boolean): unknown {
  if (!(error instanceof ProviderError)) return error
  const isOfMailbox = isRefusalOfMailbox(error, { isTrial: true, hasTokenPerMailbox })
  if (error.kind === 'rejected' || error.kind === 'not_found' || isOfMailbox) {
    return invalid('body.email', `is not a mailbox that the connection can open (${error.message})`)
  }
  return toConnectionError(error)
}
