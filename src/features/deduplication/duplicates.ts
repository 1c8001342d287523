import type { EventRow } from '../../events/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { DuplicateFinder, FindDuplicates } from '../webhooks/index.ts'
import type { Claim } from './claims.ts'
import { databaseClaims } from './database-claims.ts'
import { deduplicationKey, readsData } from './key.ts'
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
    const claims = claimsOf(events, config)
    return duplicatesOf(claims, await databaseClaims(tx).claim(claims, config.ttlSeconds * 1000))
  }
  if (shared === undefined) return { find }
  return {
    find,
    async ask(events) {
      if (events.length === 0) return find
      const config = await deduplicationStore(db.read).config()
      const claims = claimsOf(events, config)
      const holders = await shared.claim(claims, config.ttlSeconds * 1000)
      if (holders === undefined) return find
      const found = duplicatesOf(claims, holders)
      return async () => found
    },
  }
}

function claimsOf(events: readonly EventRow[], config: DeduplicationConfig): Claim[] {
  if (!config.enabled) return []
  return events
    .filter((event) => isComparable(event, config))
    .map((event) => ({ key: keyOf(event, config), eventId: event.id, atMs: event.createdAt }))
}

/** Maps each duplicate to the event that it duplicates. */
function duplicatesOf(claims: readonly Claim[], holders: readonly string[]): Map<string, string> {
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

function keyOf(event: EventRow, { keyFields }: DeduplicationConfig): string {
  return deduplicationKey('events', keyFields, {
    accountId: event.accountId,
    eventType: event.type,
    provider: event.provider,
    objectId: event.objectId,
    version: event.version,
    data: readsData(keyFields) ? JSON.parse(event.data) : undefined,
  })
}
