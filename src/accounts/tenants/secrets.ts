import type { Sealer } from '../../platform/crypto/seal.ts'
import type { SealedColumn } from '../../platform/secrets/index.ts'
import type { TenantCredentials } from '../../providers/contract/index.ts'
import type { ConnectionRow, ConnectionTokenRow } from './tables.ts'

/** A stored access token. */
export interface StoredToken {
  accessToken: string
  /** In milliseconds. */
  expiresAt: number
  /** When to request the next one, before it expires. */
  refreshAt: number
}

const secretsContext = (id: string) => `connection:${id}`
const tokenContext = (id: string) => `connectionToken:${id}`

export function openCredentials(sealer: Sealer, row: ConnectionRow): TenantCredentials {
  return {
    provider: row.provider,
    settings: JSON.parse(row.settings),
    secrets: JSON.parse(sealer.open(row.secrets, secretsContext(row.id))),
  }
}

export function sealSecrets(sealer: Sealer, id: string, secrets: TenantCredentials['secrets']): string {
  return sealer.seal(JSON.stringify(secrets), secretsContext(id))
}

export function openToken(sealer: Sealer, { id, token }: ConnectionTokenRow): StoredToken | undefined {
  return token === null ? undefined : JSON.parse(sealer.open(token, tokenContext(id)))
}

export function sealToken(sealer: Sealer, id: string, token: StoredToken): string {
  return sealer.seal(JSON.stringify(token), tokenContext(id))
}

export const SEALED_CONNECTIONS: SealedColumn = {
  table: 'connections',
  key: 'id',
  column: 'secrets',
  sealContext: secretsContext,
}
export const SEALED_CONNECTION_TOKENS: SealedColumn = {
  table: 'connectionTokens',
  key: 'id',
  column: 'token',
  sealContext: tokenContext,
}
