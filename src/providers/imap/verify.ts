import { type MailAccess, ProviderError, type RemoteFolder } from '../contract/index.ts'
import { type Dialling, dial } from './client.ts'
import { providerError, timedOut } from './errors.ts'
import { listFolders } from './folders.ts'

/** Connects, logs in, lists the folders, looks at the one to synchronise, hangs up. Throws `ProviderError`. */
export async function verify(
  access: MailAccess,
  dialling: Dialling,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ folders: RemoteFolder[] }> {
  const limit = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, limit])
  const doing = 'looking at the mailbox'
  try {
    const { imap } = await dial(access, dialling, { urgent: true, timeoutMs, signal: either })
    const hangUp = () => imap.close()
    either.addEventListener('abort', hangUp, { once: true })
    try {
      const folders = await listFolders(imap)
      const wanted = access.settings.imap?.mailbox ?? 'INBOX'
      const status = await imap.status(wanted, { messages: true })
      if (!status) throw new ProviderError('not_found', `${doing}: there is no such folder`)
      return { folders }
    } finally {
      either.removeEventListener('abort', hangUp)
      imap.close()
    }
  } catch (error) {
    throw limit.aborted ? timedOut(doing, timeoutMs) : providerError(error, doing)
  }
}
