import { ProviderError, type SenderAddresses } from '../../contract/index.ts'
import { list, object, text } from '../../shared/rest/index.ts'
import type { Graph } from '../client.ts'

/** Exchange allows 300 addresses of a mailbox. */
const MAX_SENDERS = 500

/**
 * The addresses of the mailbox. Exchange decides about others when a message is sent: the user needs Send As or Send on Behalf there.
 * A user may not read the addresses of a mailbox of somebody else.
 */
export async function listSenders(graph: Graph, signal: AbortSignal): Promise<SenderAddresses> {
  const query = { $select: 'mail,userPrincipalName,proxyAddresses' }
  try {
    const user = await graph.get('/me', { query, doing: 'listing the addresses to send from', signal }, object)
    const proxies = list(user.proxyAddresses).flatMap((entry) => text(entry)?.match(/^smtp:(.+)$/i)?.[1] ?? [])
    const all = [text(user.mail) ?? [], text(user.userPrincipalName) ?? [], proxies].flat()
    return { addresses: [...new Set(all)].slice(0, MAX_SENDERS), acceptsOthers: true }
  } catch (error) {
    const isRefused = error instanceof ProviderError && (error.kind === 'rejected' || error.kind === 'not_found')
    if (!isRefused) throw error
    return { addresses: [], acceptsOthers: true }
  }
}
