import { createHash } from 'node:crypto'

/** The fields of an event that a key may use. `data` is parsed. */
export interface KeySource {
  accountId: string | null
  eventType: string
  provider: string | null
  objectId: string | null
  version: number | null
  data: unknown
}

/** Tests use separate keys and therefore never suppress a delivery. */
export type KeySpace = 'events' | 'test'

const OWN_FIELDS = ['accountId', 'eventType', 'provider', 'objectId', 'version'] as const
const DATA_PREFIX = 'data.'

/** The values of `keyFields`, as a regular expression. */
export const KEY_FIELD_PATTERN = `^(${OWN_FIELDS.join('|')}|data(\\.[^.]+)+)$`

/** The same key for events that are equal in all key fields. The order of `keyFields` does not matter. */
export function deduplicationKey(space: KeySpace, keyFields: readonly string[], source: KeySource): string {
  const values = [...keyFields].sort().map((field) => [field, sorted(fieldOf(source, field))])
  return createHash('sha256')
    .update(JSON.stringify([space, values]))
    .digest('base64url')
}

export function readsData(keyFields: readonly string[]): boolean {
  return keyFields.some((field) => field.startsWith(DATA_PREFIX))
}

function fieldOf(source: KeySource, field: string): unknown {
  const own = OWN_FIELDS.find((name) => name === field)
  if (own !== undefined) return source[own]
  return field.slice(DATA_PREFIX.length).split('.').reduce(memberOf, source.data)
}

/** Follows `data.to.0.email` through objects and lists; null when a member is missing. */
function memberOf(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return null
  return (value as Record<string, unknown>)[name] ?? null
}

/** Sorts members, so that their order does not change the key. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return members.map(([name, member]) => [name, sorted(member)])
}
