import { type Accounts, type LiveMailboxDeps, openMailbox } from '../../../accounts/index.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type {
  FolderLiveReads,
  LiveReads,
  MessageBody,
  MessageIdentity,
  MessageLocation,
} from '../../../providers/contract/index.ts'
import type { MessageRow } from '../store.ts'

export interface LiveAccessDeps extends LiveMailboxDeps {
  db: Db
  accounts: LiveMailboxDeps['accounts'] & Pick<Accounts, 'resolve' | 'hold'>
}

/** How the provider identifies a stored message. */
export interface MessageRef extends Pick<MessageRow, 'providerMessageId' | 'uidValidity' | 'uid'> {
  /** The provider's id of its folder. */
  folderPath: string | null
  /** By what an IMAP server's message is recognised; undefined when it could not be read. */
  identity: MessageIdentity | undefined
}

/** Reads contents of stored messages, whether the provider identifies them by id or by location. */
export interface LiveContents {
  getBody(message: MessageRef): Promise<MessageBody>
  openRaw(message: MessageRef): ReturnType<LiveReads['openRaw']>
  openAttachment(message: MessageRef, attachmentId: string): ReturnType<LiveReads['openAttachment']>
}

export async function liveContents(deps: LiveAccessDeps, accountId: string): Promise<LiveContents> {
  const { mail, access } = await openMailbox(deps, accountId, 'mail.read')
  if (mail.kind !== 'folders')
    return toContents(mail.liveReads(access), ({ providerMessageId }) => ({ providerMessageId }))
  return toContents(mail.liveReads(access), requireLocation)
}

/** Throws `not_supported` for a provider with message ids: its folders are always synced. */
export async function liveFolders(deps: LiveAccessDeps, accountId: string): Promise<FolderLiveReads> {
  const { mail, access } = await openMailbox(deps, accountId, 'mail.read')
  if (mail.kind !== 'folders') throw new AppError('not_supported')
  return mail.liveReads(access)
}

function toContents<Ref>(live: LiveReads<Ref>, toRef: (message: MessageRef) => Ref): LiveContents {
  return {
    getBody: async (message) => live.getBody(toRef(message)),
    openRaw: async (message) => live.openRaw(toRef(message)),
    openAttachment: async (message, attachmentId) => live.openAttachment(toRef(message), attachmentId),
  }
}

/** Throws `not_ready` while the location is unknown. */
export function requireLocation({ folderPath, uidValidity, uid, identity }: MessageRef): MessageLocation {
  if (folderPath === null || uidValidity === null || uid === null) {
    throw new AppError('not_ready', {
      message:
        'The message was moved or its folder renumbered, and its new location is not yet known. Try again shortly.',
      headers: { 'retry-after': '5' },
    })
  }
  return { folderPath, uidValidity, uid, ...(identity && { identity }) }
}
