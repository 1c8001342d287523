import type { Selectable } from 'kysely'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Tables } from '../../../platform/db/index.ts'
import type { SealedColumn } from '../../../platform/secrets/index.ts'

export type EndpointRow = Selectable<Tables['webhookEndpoints']>

/** A signing secret. `until` (milliseconds) is when a replaced secret stops signing; null for the current one. */
export interface SigningSecret {
  secret: string
  until: number | null
}

/** An endpoint with its secrets and header values decrypted. Exists in memory only. */
export interface OpenEndpoint {
  row: EndpointRow
  /** The current secret first; empty means unsigned. */
  secrets: readonly SigningSecret[]
  headers: Record<string, string>
}

/** A replaced secret keeps signing beside the new one for this long. */
const ROTATION_OVERLAP_MS = 24 * 60 * 60_000

/** Bounds the signatures per request when secrets are rotated several times within a day. */
const MAX_SECRETS = 5

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

/** The secrets that sign at `nowMs`, the current one first. */
export function validSecrets(secrets: readonly SigningSecret[], nowMs: number): string[] {
  return secrets.filter(({ until }) => until === null || until > nowMs).map(({ secret }) => secret)
}

/** The secrets after a rotation to `secret`. Null makes the endpoint unsigned immediately. */
export function rotated(secrets: readonly SigningSecret[], secret: string | null, nowMs: number): SigningSecret[] {
  if (secret === null) return []
  const overlapping = secrets
    .map((entry) => ({ secret: entry.secret, until: entry.until ?? nowMs + ROTATION_OVERLAP_MS }))
    .filter((entry) => entry.secret !== secret && entry.until > nowMs)
  return [{ secret, until: null }, ...overlapping].slice(0, MAX_SECRETS)
}
