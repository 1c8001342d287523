import type { Db } from '../../../infra/db/index.ts'
import { AppError, notFound } from '../../../lib/errors.ts'
import type {
  FolderLiveReads,
  LiveReads,
  MailAccess,
  MailProvider,
  MessageBody,
  MessageLocation,
  ProviderName,
} from '../../../providers/contract/index.ts'
import type { Accounts } from '../../accounts/index.ts'
import type { MessageRow } from '../store.ts'

export interface MailboxDeps {
  db: Db
  accounts: Pick<Accounts, 'resolve' | 'get' | 'access' | 'hold'>
  /** The provider's mail side; undefined for one that is not set up. */
  mail(provider: ProviderName): MailProvider | undefined
}

/** How a stored mail is named at the provider. */
export interface StoredMail extends Pick<MessageRow, 'providerMessageId' | 'uidValidity' | 'uid'> {
  /** The provider's id of the folder it stands in. */
  folderPath: string | null
}

/** Live reads of stored mails, whichever way the provider names them. */
export interface Contents {
  getBody(mail: StoredMail): Promise<MessageBody>
  openRaw(mail: StoredMail): ReturnType<LiveReads['openRaw']>
  openAttachment(mail: StoredMail, attachmentId: string): ReturnType<LiveReads['openAttachment']>
}

/** Live access to the mails of an account for one request. */
export async function contentsOf(deps: MailboxDeps, accountId: string): Promise<Contents> {
  const { mail, access } = await openMailbox(deps, accountId)
  return mail.kind === 'folders' ? reading(mail.liveReads(access), placeOf) : reading(mail.liveReads(access), idOf)
}

/** Live access to the folders of an account, for one request, where mails are known by their place in one. */
export async function foldersOf(deps: MailboxDeps, accountId: string): Promise<FolderLiveReads> {
  const { mail, access } = await openMailbox(deps, accountId)
  if (mail.kind !== 'folders') throw new AppError('not_supported')
  return mail.liveReads(access)
}

/**
 * An account whose credentials were refused is not tried again: every read would be one more wrong login at the server.
 */
async function openMailbox(deps: MailboxDeps, accountId: string): Promise<{ mail: MailProvider; access: MailAccess }> {
  const account = await deps.accounts.get(accountId)
  const mail = deps.mail(account.provider)
  if (mail === undefined) throw notFound('provider', account.provider)
  if (account.status === 'auth_error') {
    throw new AppError('provider_rejected', {
      message: 'The provider refused the credentials of this account; it must be connected again.',
    })
  }
  return { mail, access: await deps.accounts.access(accountId) }
}

function reading<Ref>(live: LiveReads<Ref>, refOf: (mail: StoredMail) => Ref): Contents {
  return {
    getBody: async (mail) => live.getBody(refOf(mail)),
    openRaw: async (mail) => live.openRaw(refOf(mail)),
    openAttachment: async (mail, attachmentId) => live.openAttachment(refOf(mail), attachmentId),
  }
}

function placeOf({ folderPath, uidValidity, uid }: StoredMail): MessageLocation {
  if (folderPath === null || uidValidity === null || uid === null) {
    throw new AppError('not_ready', {
      message: 'The mail server renumbered this folder; the message is being found again. Try again shortly.',
      headers: { 'retry-after': '5' },
    })
  }
  return { folderPath, uidValidity, uid }
}

function idOf({ providerMessageId }: StoredMail): { providerMessageId: string } {
  return { providerMessageId }
}
