import { randomUUID } from 'node:crypto'
import { type MailAccess, type MailProvider, ProviderError } from '../../providers/contract/index.ts'

const CHECK_MS = 10_000

/**
 * Checks that new tokens open a mailbox: not every account at Google or Microsoft has one. Throws the `ProviderError` when there is
 * none. Temporary errors are ignored, so that they do not prevent linking.
 */
export async function checkMailbox(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  mailbox: Pick<MailAccess, 'email' | 'settings'> & Required<Pick<MailAccess, 'accessToken'>>,
  signal = AbortSignal.timeout(CHECK_MS),
): Promise<void> {
  // A unique id, so that a check that hangs does not block the request connections of others.
  const accountId = `unsaved-${randomUUID()}`
  const access = { ...mailbox, accountId, secrets: {} }
  try {
    await mail.verify(access, signal)
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof ProviderError)) throw error
    if (error.kind === 'rejected' || error.kind === 'not_found') throw error
  } finally {
    await mail.closeConnections(accountId)
  }
}
