import type { Tx } from '../../platform/db/index.ts'
import type { Account } from '../identity/account.ts'
import { retryAccounts } from './retry-accounts.ts'
import { type ConnectionsDeps, connections } from './service.ts'
import { type ConnectionTokensDeps, connectionTokens } from './tokens.ts'

type OpenDeps = Omit<ConnectionsDeps & ConnectionTokensDeps, 'retryAccounts' | 'accounts'> & {
  /** The accounts, which need the tokens. */
  accounts(): ConnectionsDeps['accounts'] & { tryAgain(tx: Tx, accountId: string): Promise<Account> }
}

export type OpenConnections = ReturnType<typeof openConnections>

/** The connections of this process: `service` manages them, `tokens` opens mailboxes with them. */
export function openConnections(deps: OpenDeps) {
  const retry = (connectionId: string) =>
    retryAccounts({ db: deps.db, tryAgain: (tx, accountId) => deps.accounts().tryAgain(tx, accountId) }, connectionId)
  const accounts: ConnectionsDeps['accounts'] = { remove: (tx, accountId) => deps.accounts().remove(tx, accountId) }
  return {
    tenants: deps.tenants,
    tokens: connectionTokens({ ...deps, retryAccounts: retry }),
    service: connections({ ...deps, accounts, retryAccounts: retry }),
  }
}
