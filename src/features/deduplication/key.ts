import { createHash } from 'node:crypto'

/** What a key is made of. `data` is the type's own part of an event, parsed. */
export interface Subject {
  accountId: string | null
  eventType: string
  provider: string | null
  objectId: string | null
  version: number | null
  data: unknown
}

/** The tests have keys of their own: trying out never suppresses a delivery. */
export type KeySpace = 'events' | 'test'

const OWN_FIELDS = ['accountId', 'eventType', 'provider', 'objectId', 'version'] as const
const DATA_PREFIX = 'data.'

/** What `keyFields` may hold, as a regular expression. */
export const KEY_FIELD_PATTERN = `^(${OWN_FIELDS.join('|')}|data(\\.[^.]+)+)$`

/** The key under which a subject is known: equal for subjects that are equal in all key fields, in whatever order these stand. */
export function deduplicationKey(space: KeySpace, keyFields: readonly string[], subject: Subject): string {
  const values = [...keyFields].sort().map((field) => [field, inOrder(fieldOf(subject, field))])
  return createHash('sha256')
    .update(JSON.stringify([space, values]))
    .digest('base64url')
}

export function readsData(keyFields: readonly string[]): boolean {
  return keyFields.some((field) => field.startsWith(DATA_PREFIX))
}

function fieldOf(subject: Subject, field: string): unknown {
  const own = OWN_FIELDS.find((name) => name === field)
  if (own !== undefined) return subject[own]
  return field.slice(DATA_PREFIX.length).split('.').reduce(memberOf, subject.data)
}

/** `data.to.0.email`: members of objects and items of lists; what is not there is null. */
function memberOf(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return null
  return (value as Record<string, unknown>)[name] ?? null
}

/** The same object is the same key, however its members are ordered. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return members.map(([name, member]) => [name, inOrder(member)])
}
