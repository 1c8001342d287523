import { sha256 } from '../../platform/crypto/sha256.ts'
import type { Db } from '../../platform/db/index.ts'
import type { EventRow } from '../index.ts'
import type { DuplicateFinder, FindDuplicates } from '../webhooks/index.ts'
import { databaseClaims } from './database-claims.ts'
import type { Claim } from './key-claims.ts'
import type { SharedClaims } from './redis-claims.ts'
import { type DeduplicationConfig, deduplicationStore } from './store.ts'

/**
 * Finds events that duplicate an earlier one; every other event claims its key. Only the times of the events count, so a late
 * fan-out gets the same result.
 *
 * Claims in the database belong to the transaction that writes the deliveries: both are committed or neither. Shared claims are
 * made before that transaction. After a crash in between, the same event comes again and still holds its key.
 */
export function duplicateFinder({ db, claims: shared }: { db: Db; claims: SharedClaims | undefined }): DuplicateFinder {
  const find: FindDuplicates = async (tx, events) => {
    if (events.length === 0) return new Map()
    const config = await deduplicationStore(tx).config()
    const claims = buildClaims(events, config)
    return findDuplicates(claims, await databaseClaims(tx).claim(claims, config.ttlSeconds * 1000))
  }
  if (shared === undefined) return { find }
  return {
    find,
    async ask(events) {
      if (events.length === 0) return find
      const config = await deduplicationStore(db.read).config()
      const claims = buildClaims(events, config)
      const holders = await shared.claim(claims, config.ttlSeconds * 1000)
      if (holders === undefined) return find
      const found = findDuplicates(claims, holders)
      return async () => found
    },
  }
}

function buildClaims(events: readonly EventRow[], config: DeduplicationConfig): Claim[] {
  if (!config.enabled) return []
  return events
    .filter((event) => isComparable(event, config))
    .map((event) => ({ key: buildKey(event, config), eventId: event.id, atMs: event.createdAt }))
}

/** Maps each duplicate to the event that it duplicates. */
function findDuplicates(claims: readonly Claim[], holders: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const [index, { eventId }] of claims.entries()) {
    const holder = holders[index]
    if (holder !== undefined && holder !== eventId) found.set(eventId, holder)
  }
  return found
}

/** Without a version, two changes of one object look alike although both must be delivered. */
function isComparable(event: EventRow, { keyFields }: DeduplicationConfig): boolean {
  return event.version !== null || !keyFields.includes('version')
}

/** Begins with the time in the object's id, so that the keys of new objects are neighbours in their index: few pages are written. */
function buildKey(event: EventRow, { keyFields }: DeduplicationConfig): string {
  const hash = deduplicationKey('events', keyFields, {
    accountId: event.accountId,
    eventType: event.type,
    provider: event.provider,
    objectId: event.objectId,
    version: event.version,
    data: readsData(keyFields) ? JSON.parse(event.data) : undefined,
  })
  return keyFields.includes('objectId') ? timeIn(event.objectId) + hash : hash
}

function timeIn(id: string | null): string {
  return /^[a-z]{3}_([0-9a-z]{10})/.exec(id ?? '')?.[1] ?? ''
}

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
type KeySpace = 'events' | 'test'

const OWN_FIELDS = ['accountId', 'eventType', 'provider', 'objectId', 'version'] as const
const DATA_PREFIX = 'data.'

/** The values of `keyFields`, as a regular expression: a name or a path, but not the entire data. */
export const KEY_FIELD_PATTERN = '^(data(\\.[^.]+)+|(?!data(\\.|$))[^.\\s]+(\\.[^.\\s]+)*)$'

/** The same key for events that are equal in all key fields. The order of `keyFields` does not matter. */
export function deduplicationKey(space: KeySpace, keyFields: readonly string[], source: KeySource): string {
  const fields = [...new Set(keyFields.map(canonical))].sort()
  const values = fields.map((field) => [field, sorted(readField(source, field))])
  return sha256(JSON.stringify([space, values]), 'base64url')
}

/** Any name that is not a field of the event itself names a member of its data: `subject` is `data.subject`. */
function canonical(field: string): string {
  const isOwn = OWN_FIELDS.some((name) => name === field)
  return isOwn || field.startsWith(DATA_PREFIX) ? field : DATA_PREFIX + field
}

function readsData(keyFields: readonly string[]): boolean {
  return keyFields.some((field) => canonical(field).startsWith(DATA_PREFIX))
}

function readField(source: KeySource, field: string): unknown {
  const own = OWN_FIELDS.find((name) => name === field)
  if (own !== undefined) return source[own]
  return field.slice(DATA_PREFIX.length).split('.').reduce(readMember, source.data)
}

/** Follows `data.to.0.email` through objects and lists; null when a member is missing. */
function readMember(value: unknown, name: string): unknown {
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
