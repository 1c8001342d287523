import { type MailAccess, ProviderError, type RemoteFolder } from '../contract/index.ts'
import { type Dialing, dial } from './client.ts'
import { providerError, timeoutError } from './errors.ts'
import { listFolders } from './folders.ts'

/** Connects, logs in, lists the folders, checks the one to sync, and disconnects. Throws `ProviderError`. */
export async function verify(
  access: MailAccess,
  dialing: Dialing,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ folders: RemoteFolder[] }> {
  const limit = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, limit])
  const doing = 'checking the mailbox'
  try {
    const { imap } = await dial(access, dialing, { urgent: true, timeoutMs, signal: either })
    const hangUp = () => imap.close()
    either.addEventListener('abort', hangUp, { once: true })
    try {
      const folders = await listFolders(imap)
      const status = await imap.status(access.settings.imap?.mailbox ?? 'INBOX', { messages: true })
      if (!status) throw new ProviderError('not_found', `${doing}: the folder does not exist`)
      return { folders }
    } finally {
      either.removeEventListener('abort', hangUp)
      imap.close()
    }
  } catch (error) {
    throw limit.aborted ? timeoutError(doing, timeoutMs) : providerError(error, doing)
  }
}
