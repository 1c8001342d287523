import { randomUUID } from 'node:crypto'
import { type MailAccess, type MailProvider, ProviderError, type RemoteFolder } from '../../providers/contract/index.ts'

const CHECK_MS = 10_000

type CheckedMailbox = Pick<MailAccess, 'email' | 'settings' | 'isApplication'> &
  Required<Pick<MailAccess, 'accessToken'>>

/**
 * Checks that new tokens open a mailbox: not every account at Google or Microsoft has one. Throws the `ProviderError` when there is
 * none. Temporary errors are ignored, so that they do not prevent linking. Returns the folders, none after such an error.
 */
export async function checkMailbox(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  mailbox: CheckedMailbox,
  signal = AbortSignal.timeout(CHECK_MS),
): Promise<RemoteFolder[]> {
  try {
    return await openOnce(mail, mailbox, signal)
  } catch (error) {
    if (signal.aborted) return []
    if (!(error instanceof ProviderError)) throw error
    if (error.kind === 'rejected' || error.kind === 'not_found') throw error
    return []
  }
}

/** As `checkMailbox`, for a mailbox that somebody names: throws temporary errors, too. */
export async function openMailboxOnce(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  mailbox: CheckedMailbox,
): Promise<void> {
  const signal = AbortSignal.timeout(CHECK_MS)
  try {
    await openOnce(mail, mailbox, signal)
  } catch (error) {
    throw signal.aborted ? new ProviderError('unavailable', 'the mailbox did not open in time') : error
  }
}

async function openOnce(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  mailbox: CheckedMailbox,
  signal: AbortSignal,
): Promise<RemoteFolder[]> {
  // A unique id, so that a check that hangs does not block the request connections of others.
  const accountId = `unsaved-${randomUUID()}`
  const access = { ...mailbox, accountId, secrets: {} }
  try {
    const { folders } = await mail.verify(access, signal)
    return folders
  } finally {
    await mail.closeConnections(accountId)
  }
}
