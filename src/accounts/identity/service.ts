import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Tx } from '../../platform/db/index.ts'
import { buildPage, pageRequest } from '../../platform/formats/pagination.ts'
import type { LoginProvider, MailAccess } from '../../providers/contract/index.ts'
import { syncRequests } from '../mailbox/sync-requests.ts'
import { connectionTokenRequest } from '../tenants/token-request.ts'
import type { ConnectionTokens } from '../tenants/tokens.ts'
import { openSecrets } from '../tokens/account-secrets.ts'
import { tokens as createTokens, type TokensDeps, type TokenTiming } from '../tokens/tokens.ts'
import type { Accounts, LinkedMailbox } from './account.ts'
import { cleanAlias, toAccount } from './account-row.ts'
import { changeAccount, type RemoveDeps, removeAccount } from './change-remove.ts'
import { type LinkDeps, linkAccount } from './link.ts'
import { listAccounts } from './list.ts'
import { markStalled, setStatus, tryAgain } from './status.ts'
import { type AccountRow, accountStore, resolveAccount } from './store.ts'

export interface AccountsDeps extends LinkDeps, RemoveDeps {
  /** The OAuth login by `loginName`. Undefined for one that is not configured. */
  login?(name: string): LoginProvider | undefined
  tokenTiming?: Partial<TokenTiming>
  /** The tokens of connections, for accounts without tokens of their own. */
  connectionTokens: Pick<ConnectionTokens, 'accessToken' | 'endPause'>
  /** Called after each refresh of tokens, for the metrics. */
  onRefresh?: TokensDeps['onRefresh']
}

const LIST = '/accounts'

export function accounts(deps: AccountsDeps): Accounts {
  const { db, clock, sealer } = deps
  const store = (tx: Tx) => accountStore(tx, db.dialect)
  const reader = accountStore(db.read, db.dialect)
  const requests = syncRequests(deps)
  const tokens = createTokens({
    ...deps,
    tryAgain: (tx, accountId) => tryAgain(deps, tx, accountId),
    timing: deps.tokenTiming,
  })

  /** Where the token of a mailbox comes from: its connection, the account that it is shared with, or its own grant. */
  function accessTokenOf(row: AccountRow, hasOwn: boolean): Pick<MailAccess, 'accessToken' | 'isApplication'> {
    const id = row.sharedWith ?? row.id
    const request = connectionTokenRequest(row)
    if (request !== undefined) {
      return {
        accessToken: (refused) => deps.connectionTokens.accessToken(request, refused),
        isApplication: true,
      }
    }
    return hasOwn || row.sharedWith !== null ? { accessToken: (refused) => tokens.accessToken(id, refused) } : {}
  }

  return {
    link: (tx, input) => linkAccount(deps, tx, input),
    setStatus: (tx, accountId, status, reason, accessVersion) =>
      setStatus(deps, tx, accountId, status, reason, accessVersion),
    markStalled: (tx, accountId, reason) => markStalled(deps, tx, accountId, reason),
    synced: (tx, accountId) => store(tx).setLastSync(accountId, clock.now()),
    requestSync: requests.request,
    clearSyncRequest: requests.clear,
    change: (tx, accountId, changes) => changeAccount(deps, tx, accountId, changes),
    tryAgain: (tx, accountId) => tryAgain(deps, tx, accountId),
    remove: (tx, accountId) => removeAccount(deps, tx, accountId),
    hold: (tx, accountId) => store(tx).hold(accountId),

    async access(accountId) {
      const row = await reader.get(accountId)
      const { oauth, ...secrets } = openSecrets(sealer, row)
      return {
        accountId,
        email: row.email,
        settings: JSON.parse(row.settings),
        secrets,
        ...accessTokenOf(row, oauth !== undefined),
        accessVersion: row.accessVersion,
      }
    },

    endTokenPause(account) {
      const request = connectionTokenRequest(account)
      if (request === undefined) tokens.endPause(account.sharedWith ?? account.id)
      else deps.connectionTokens.endPause(request)
    },

    get: async (accountId) => toAccount(await reader.shown(accountId)),

    async getForSync(accountId) {
      const row = await reader.shown(accountId)
      return { account: toAccount(row), syncRequestedAt: row.syncRequestedAt }
    },

    async findLinked(provider, customUserId, email) {
      if (customUserId === null && email === null) return []
      const rows = await reader.linked(provider, cleanAlias(customUserId), email)
      return rows.map(toAccount)
    },

    async findMailboxes(customUserId, email) {
      const rows = await reader.linked(null, cleanAlias(customUserId), email)
      return rows.map((row) => toLinkedMailbox(sealer, row))
    },

    async list(query) {
      const q = query.q?.trim() || undefined
      const { status, provider, connectionId } = query
      const filter = { q, status, provider, connectionId }
      const list = [LIST, q, status, provider, ...(connectionId === undefined ? [] : [connectionId])]
      const request = pageRequest(query, list, ['text'])
      const { rows, total } = await listAccounts(db, filter, request)
      return buildPage(rows.map(toAccount), request, total, list, (account) => [account.id])
    },

    resolve: resolveAccount,
  }
}

function toLinkedMailbox(sealer: Sealer, row: AccountRow): LinkedMailbox {
  const { email, tokens } = toAccount(row)
  const { id: accountId, provider, providerUser, settings } = row
  const { smtpPassword, caldavPassword } = openSecrets(sealer, row)
  return {
    accountId,
    provider,
    email,
    providerUser,
    settings: JSON.parse(settings),
    scopes: tokens.scopes,
    ownPasswords: { smtp: smtpPassword !== undefined, caldav: caldavPassword !== undefined },
  }
}
