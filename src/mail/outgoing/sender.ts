import { type Account, type Accounts, readLive, scopeChecks } from '../../accounts/index.ts'
import { type AppError, invalid } from '../../platform/errors/app-error.ts'
import { asciiEmail } from '../../platform/formats/email-address.ts'
import type { ProviderName, RemoteAddress, SendProvider } from '../../providers/contract/index.ts'

export interface SenderDeps {
  accounts: Pick<Accounts, 'get' | 'access'>
  sending(provider: ProviderName): SendProvider
}

const LISTING_MS = 10_000
/** Of the addresses that an error names. */
const MAX_NAMED = 20

/**
 * Checks that the account may send from this address. Gmail lists the verified ones; at Microsoft, Exchange decides about those of other
 * mailboxes when it sends. A mail server is not asked: many accept any address, so that a typing error would go out as somebody else's mail.
 * Throws validation_failed, naming the addresses, and consent_required.
 */
export async function checkSender(
  { accounts, sending }: SenderDeps,
  account: Account,
  from: RemoteAddress,
  path: string,
): Promise<void> {
  if (isSame(from.email, account.email)) return
  const provider = sending(account.provider)
  if (provider.listSenders === undefined) throw refused(path, [account.email])
  const access = await accounts.access(account.id)
  const signal = AbortSignal.timeout(LISTING_MS)
  const { addresses, acceptsOthers } = await readLive(
    'The account',
    async () => provider.listSenders?.(access, signal) ?? { addresses: [], acceptsOthers: false },
  )
  if (addresses.some((address) => isSame(from.email, address))) return
  if (!acceptsOthers) throw refused(path, [account.email, ...addresses])
  await scopeChecks.requireSharedSending(accounts, account)
}

function isSame(left: string, right: string): boolean {
  return asciiEmail(left).toLowerCase() === asciiEmail(right).toLowerCase()
}

function refused(path: string, addresses: readonly string[]): AppError {
  const all = [...new Map(addresses.map((address) => [address.toLowerCase(), address])).values()]
  const named = all.slice(0, MAX_NAMED).join(', ') + (all.length > MAX_NAMED ? ', …' : '')
  return invalid(path, all.length === 1 ? `must be the account's address (${named})` : `must be one of: ${named}`)
}
