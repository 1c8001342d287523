import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { SealedColumn } from '../../platform/secrets/index.ts'
import type { LoginProvider, ProviderName } from '../../providers/contract/index.ts'
import { type AccountRow, accountStore } from '../identity/store.ts'
import { connectionTokenRequest } from '../tenants/token-request.ts'
import type { ConnectionTokens, TokenRequest } from '../tenants/tokens.ts'
import { openSecrets } from './account-secrets.ts'
import { loginName } from './login-name.ts'
import { checkTokenUser } from './token-user.ts'

interface RevocationDeps {
  db: Db
  sealer: Sealer
  log: Log
  /** By `loginName`. */
  login(name: string): LoginProvider | undefined
}

/** The data of a deleted account that stays stored until its tokens are revoked and its push subscriptions ended. */
type Revocation = OwnTokens | { connectionToken: TokenRequest }

interface OwnTokens {
  provider: ProviderName
  providerUser: string
  /** As `loginName`. Absent in rows of earlier versions, where it is the provider. */
  login?: string
  refreshToken: string
}

/** The sealed value for the erasure row. Null when there is nothing to revoke or to end. */
export function sealRevocation(sealer: Sealer, row: AccountRow): string | null {
  const revocation = toRevocation(sealer, row)
  if (revocation === undefined) return null
  return sealer.seal(JSON.stringify(revocation), sealContext(row.id))
}

function toRevocation(sealer: Sealer, row: AccountRow): Revocation | undefined {
  const { provider, providerUser } = row
  const connectionToken = connectionTokenRequest(row)
  if (connectionToken !== undefined) return { connectionToken }
  const { oauth } = openSecrets(sealer, row)
  return oauth && { provider, providerUser, login: loginName(row), refreshToken: oauth.refreshToken }
}

/** What remains to be done at the provider of a deleted account. */
export function revocations(deps: RevocationDeps & { connectionTokens: Pick<ConnectionTokens, 'accessToken'> }) {
  return { revoke: revoker(deps), findToken: deletedAccountTokens(deps) }
}

/** Revokes the tokens of a deleted account at its provider. One attempt: a failure is logged, and the user can revoke access there. */
function revoker({ db, sealer, log, login }: RevocationDeps): (accountId: string) => Promise<void> {
  const store = accountStore(db.read, db.dialect)

  return async (accountId) => {
    const about = { accountId, operation: 'accounts.revoke' }
    try {
      const sealed = await store.revocation(accountId)
      if (sealed === null) return
      const revocation: Revocation = JSON.parse(sealer.open(sealed, sealContext(accountId)))
      // The tokens of a connection serve its other accounts.
      if (!('connectionToken' in revocation)) await revokeOwn(revocation)
    } catch (error) {
      log.warn('Cannot revoke the tokens of a deleted account. The user can revoke access at the provider.', {
        ...about,
        error,
      })
    }
    await db
      .transaction((tx) => accountStore(tx, db.dialect).forgetRevocation(accountId))
      .catch((error: unknown) => {
        log.warn('Cannot delete a completed revocation; it may be repeated.', { ...about, error })
      })
  }

  async function revokeOwn({ provider, providerUser, login: name = provider, refreshToken }: OwnTokens): Promise<void> {
    // The grant belongs to the user: revoking it would also disconnect the user's other accounts.
    if (!(await store.hasUser(provider, providerUser))) await login(name)?.revoke(refreshToken)
  }
}

/**
 * An access token of a deleted account until it is revoked, for ending its push subscription first. Undefined when there is none.
 * Throws `ProviderError`.
 */
function deletedAccountTokens({
  db,
  sealer,
  login: findLogin,
  connectionTokens,
}: Omit<RevocationDeps, 'log'> & { connectionTokens: Pick<ConnectionTokens, 'accessToken'> }): (
  accountId: string,
) => Promise<string | undefined> {
  return async (accountId) => {
    const sealed = await accountStore(db.read, db.dialect).revocation(accountId)
    if (sealed === null) return undefined
    const revocation: Revocation = JSON.parse(sealer.open(sealed, sealContext(accountId)))
    if ('connectionToken' in revocation) return connectionTokens.accessToken(revocation.connectionToken)
    const { provider, providerUser, refreshToken } = revocation
    const login = findLogin(provider)
    const tokens = await login?.refresh(refreshToken)
    if (login === undefined || tokens === undefined) return undefined
    await checkTokenUser(login, tokens, providerUser)
    return tokens.accessToken
  }
}

const sealContext = (accountId: string) => `revocation:${accountId}`

export const SEALED_REVOCATIONS: SealedColumn = {
  table: 'accountErasures',
  key: 'accountId',
  column: 'revocation',
  sealContext,
}
