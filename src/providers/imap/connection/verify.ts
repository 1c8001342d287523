import { type MailAccess, ProviderError, type RemoteFolder } from '../../contract/index.ts'
import { providerError, timeoutError } from '../errors.ts'
import { listFolders } from '../folders/folders.ts'
import { type Dialing, dial, type ImapClient } from './client.ts'
import { type WorkLimits, withinLimits } from './work-limits.ts'

export interface VerifyOptions {
  timeoutMs: number
  work: WorkLimits
  literalBytes: number
  /** Receives the connection of a sign-in that succeeded. Without it, the connection is closed. */
  keep: ((client: ImapClient) => void) | undefined
}

/** Connects, logs in, lists the folders, checks the one to sync, and disconnects. Throws `ProviderError`. */
export async function verify(
  access: MailAccess,
  dialing: Dialing,
  { timeoutMs, work, literalBytes, keep }: VerifyOptions,
  signal: AbortSignal,
): Promise<{ folders: RemoteFolder[] }> {
  const limit = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, limit])
  const doing = 'checking the mailbox'
  async function check(client: ImapClient) {
    const folders = await listFolders(client)
    const status = await client.imap.status(access.settings.imap?.mailbox ?? 'INBOX', { messages: true })
    if (!status) throw new ProviderError('not_found', `${doing}: the folder does not exist`)
    return { folders }
  }
  try {
    const options = { urgent: true, timeoutMs, literalBytes, signal: either }
    const client = await dial(access, dialing, options)
    const { imap } = client
    const hangUp = () => imap.close()
    either.addEventListener('abort', hangUp, { once: true })
    try {
      const checked = await withinLimits(client, work, doing, check(client))
      if (keep === undefined) imap.close()
      else keep(client)
      return checked
    } catch (error) {
      imap.close()
      throw error
    } finally {
      either.removeEventListener('abort', hangUp)
    }
  } catch (error) {
    throw limit.aborted ? timeoutError(doing, timeoutMs) : providerError(error, doing)
  }
}
