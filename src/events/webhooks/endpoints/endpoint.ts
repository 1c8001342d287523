import type { Selectable } from 'kysely'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Tables } from '../../../platform/db/index.ts'
import type { SealedColumn } from '../../../platform/secrets/index.ts'
import type { SigningSecret } from './signing-secrets.ts'

export type EndpointRow = Selectable<Tables['webhookEndpoints']>

/** An endpoint with its secrets and header values decrypted. Exists in memory only. */
export interface OpenEndpoint {
  row: EndpointRow
  /** The current secret first; empty means unsigned. */
  secrets: readonly SigningSecret[]
  headers: Record<string, string>
}

/** The seal context of an endpoint's secrets and headers. */
export const endpointContext = (endpointId: string) => `endpoint:${endpointId}`

export const SEALED_ENDPOINTS: readonly SealedColumn[] = ['secrets', 'headers'].map((column) => ({
  table: 'webhookEndpoints',
  key: 'id',
  column,
  sealContext: endpointContext,
}))

export function openEndpoint(row: EndpointRow, sealer: Sealer): OpenEndpoint {
  const open = (sealed: string) => JSON.parse(sealer.open(sealed, endpointContext(row.id)))
  return {
    row,
    secrets: row.secrets === null ? [] : open(row.secrets),
    headers: row.headers === null ? {} : open(row.headers),
  }
}
