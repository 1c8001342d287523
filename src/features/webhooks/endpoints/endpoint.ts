import type { Selectable } from 'kysely'
import type { Tables } from '../../../infra/db/index.ts'
import type { Sealer } from '../../../lib/seal.ts'

export type EndpointRow = Selectable<Tables['webhookEndpoints']>

/** One signing secret; `until` (milliseconds) ends a replaced one's overlap, null is the current one. */
export interface SigningSecret {
  secret: string
  until: number | null
}

/** An endpoint with what was sealed in it. Lives in memory only. */
export interface OpenEndpoint {
  row: EndpointRow
  /** The current one first; empty is unsigned. */
  secrets: readonly SigningSecret[]
  headers: Record<string, string>
}

/** A replaced secret goes on signing beside the new one for this long. */
const ROTATION_OVERLAP_MS = 24 * 60 * 60_000

/** Rotating again and again within a day keeps this many; each costs one signature per request. */
const MAX_SECRETS = 5

/** What the endpoint's secrets and headers are sealed for. */
export const endpointContext = (endpointId: string) => `endpoint:${endpointId}`

export function openEndpoint(row: EndpointRow, sealer: Sealer): OpenEndpoint {
  const open = (sealed: string) => JSON.parse(sealer.open(sealed, endpointContext(row.id)))
  return {
    row,
    secrets: row.secrets === null ? [] : open(row.secrets),
    headers: row.headers === null ? {} : open(row.headers),
  }
}

/** Every secret that signs at `nowMs`, the current one first. */
export function validSecrets(secrets: readonly SigningSecret[], nowMs: number): string[] {
  return secrets.filter(({ until }) => until === null || until > nowMs).map(({ secret }) => secret)
}

/** The secrets after `secret` took over; null makes the endpoint unsigned at once. */
export function rotated(known: readonly SigningSecret[], secret: string | null, nowMs: number): SigningSecret[] {
  if (secret === null) return []
  const overlapping = known
    .map((entry) => ({ secret: entry.secret, until: entry.until ?? nowMs + ROTATION_OVERLAP_MS }))
    .filter((entry) => entry.secret !== secret && entry.until > nowMs)
  return [{ secret, until: null }, ...overlapping].slice(0, MAX_SECRETS)
}
