import type { Db } from '../../infra/db/index.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import type { FolderOperations, MailProvider, ProviderName } from '../../providers/provider.ts'
import type { Accounts } from '../accounts/index.ts'

export interface MailboxDeps {
  db: Db
  accounts: Pick<Accounts, 'resolve' | 'get' | 'access' | 'hold'>
  /** The provider's mail side; undefined for one that is not set up. */
  mail(provider: ProviderName): MailProvider | undefined
}

/**
 * Live access to an account's mailbox for one request. An account whose credentials were refused is not tried again:
 * every read would be one more wrong login at the server.
 */
export async function operationsOf(deps: MailboxDeps, accountId: string): Promise<FolderOperations> {
  const account = await deps.accounts.get(accountId)
  const mail = deps.mail(account.provider)
  if (mail?.kind !== 'folders') throw notFound('provider', account.provider)
  if (account.status === 'auth_error') {
    throw new AppError('provider_rejected', {
      message: 'The provider refused the credentials of this account; it must be connected again.',
    })
  }
  return mail.operations(await deps.accounts.access(accountId))
}
