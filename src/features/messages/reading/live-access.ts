import type { Db } from '../../../infra/db/index.ts'
import { AppError, notFound } from '../../../lib/errors.ts'
import {
  type FolderLiveReads,
  type LiveReads,
  type MailAccess,
  type MailProvider,
  type MessageBody,
  type MessageLocation,
  ProviderError,
  type ProviderName,
} from '../../../providers/contract/index.ts'
import { type Accounts, requireScopes } from '../../accounts/index.ts'
import type { MessageRow } from '../store.ts'

export interface LiveAccessDeps {
  db: Db
  accounts: Pick<Accounts, 'resolve' | 'get' | 'access' | 'hold'>
  /** The provider's mailbox interface; undefined for a provider that is not configured. */
  mail(provider: ProviderName): MailProvider | undefined
}

/** How the provider identifies a stored message. */
export interface MessageRef extends Pick<MessageRow, 'providerMessageId' | 'uidValidity' | 'uid'> {
  /** The provider's id of its folder. */
  folderPath: string | null
}

/** Reads contents of stored messages, whether the provider identifies them by id or by location. */
export interface LiveContents {
  getBody(message: MessageRef): Promise<MessageBody>
  openRaw(message: MessageRef): ReturnType<LiveReads['openRaw']>
  openAttachment(message: MessageRef, attachmentId: string): ReturnType<LiveReads['openAttachment']>
}

export async function liveContents(deps: LiveAccessDeps, accountId: string): Promise<LiveContents> {
  const { mail, access } = await openMailbox(deps, accountId)
  if (mail.kind !== 'folders')
    return contentsOf(mail.liveReads(access), ({ providerMessageId }) => ({ providerMessageId }))
  return contentsOf(mail.liveReads(access), locationOf)
}

/** Throws `not_supported` for a provider with message ids: its folders are always synced. */
export async function liveFolders(deps: LiveAccessDeps, accountId: string): Promise<FolderLiveReads> {
  const { mail, access } = await openMailbox(deps, accountId)
  if (mail.kind !== 'folders') throw new AppError('not_supported')
  return mail.liveReads(access)
}

async function openMailbox(
  deps: LiveAccessDeps,
  accountId: string,
): Promise<{ mail: MailProvider; access: MailAccess }> {
  const account = await deps.accounts.get(accountId)
  const mail = deps.mail(account.provider)
  if (mail === undefined) throw notFound('provider', account.provider)
  // Another login with refused credentials may make the server lock the mailbox.
  if (account.status === 'auth_error') throw credentialsRefused()
  requireScopes(account, ['mail.read'])
  return { mail, access: await deps.accounts.access(accountId) }
}

function contentsOf<Ref>(live: LiveReads<Ref>, refOf: (message: MessageRef) => Ref): LiveContents {
  return {
    getBody: async (message) => live.getBody(refOf(message)),
    openRaw: async (message) => live.openRaw(refOf(message)),
    openAttachment: async (message, attachmentId) => live.openAttachment(refOf(message), attachmentId),
  }
}

function locationOf({ folderPath, uidValidity, uid }: MessageRef): MessageLocation {
  if (folderPath === null || uidValidity === null || uid === null) {
    throw new AppError('not_ready', {
      message: 'The mail server renumbered this folder, and the message is not yet located again. Try again shortly.',
      headers: { 'retry-after': '5' },
    })
  }
  return { folderPath, uidValidity, uid }
}

/** Runs a live read and turns a provider's failure into a 404, 409, 502 or 504. `what` is the subject of the 404 message. */
export async function readLive<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof ProviderError ? toAppError(error, what) : error
  }
}

function toAppError(error: ProviderError, what: string): AppError {
  switch (error.kind) {
    case 'not_found':
      return new AppError('not_found', { message: `${what} no longer exists at the provider.`, cause: error })
    case 'auth_expired':
      return credentialsRefused(error)
    case 'rejected':
      if (!error.missingScope) return new AppError('provider_rejected', { cause: error })
      return new AppError('consent_required', {
        message: `${error.message}. Send the user through a new session (POST /auth/sessions).`,
        cause: error,
      })
    default:
      return new AppError(error.timedOut ? 'provider_timeout' : 'provider_unavailable', {
        ...(error.retryAfterMs !== undefined && {
          headers: { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) },
        }),
        cause: error,
      })
  }
}

function credentialsRefused(cause?: ProviderError): AppError {
  return new AppError('provider_rejected', {
    message: 'The provider refused the credentials of this account. Connect the account again.',
    cause,
  })
}
