import { randomUUID } from 'node:crypto'
import type { TokenSet } from '../../../providers/contract/index.ts'
import { type MailProvider, ProviderError } from '../../../providers/contract/index.ts'

const CHECK_MS = 10_000

/**
 * Looks whether there is a mailbox behind tokens that were just issued: not every account at Google or Microsoft has one. Throws
 * the `ProviderError` that says no; trouble that passes does not keep an account from being linked.
 */
export async function checkMailbox(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  email: string,
  tokens: TokenSet,
  signal = AbortSignal.timeout(CHECK_MS),
): Promise<void> {
  // Of its own: one that hangs must not make the others wait for their turn.
  const accountId = `unsaved-${randomUUID()}`
  const access = { accountId, email, settings: {}, secrets: {}, accessToken: async () => tokens.accessToken }
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
