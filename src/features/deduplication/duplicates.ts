import type { EventRow } from '../../events/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { DuplicateFinder, FindDuplicates } from '../webhooks/index.ts'
import type { Claim } from './claims.ts'
import { databaseClaims } from './database-claims.ts'
import { deduplicationKey, readsData } from './key.ts'
import type { SharedClaims } from './shared-claims.ts'
import { type DeduplicationConfig, deduplicationStore } from './store.ts'

/**
 * Which events say again what an earlier one said; the others claim their keys. The time that counts is the events' own, so
 * the answer is the same however late the fan-out comes to them.
 *
 * The database is asked in the transaction that writes the deliveries: claim and deliveries are there together or not at
 * all. Shared claims are made before it begins. After a crash in between the same event comes again and holds its own.
 */
export function repeats({ db, claims: shared }: { db: Db; claims: SharedClaims | undefined }): DuplicateFinder {
  const find: FindDuplicates = async (tx, events) => {
    if (events.length === 0) return new Map()
    const config = await deduplicationStore(tx).config()
    const claims = claimsOf(events, config)
    return repeatsOf(claims, await databaseClaims(tx).claim(claims, config.ttlSeconds * 1000))
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
      const found = repeatsOf(claims, holders)
      return async () => found
    },
  }
}

function claimsOf(events: readonly EventRow[], config: DeduplicationConfig): Claim[] {
  if (!config.enabled) return []
  return events
    .filter((event) => isTellable(event, config))
    .map((event) => ({ key: keyOf(event, config), eventId: event.id, atMs: event.createdAt }))
}

/** Per repeat the event that it repeats. */
function repeatsOf(claims: readonly Claim[], holders: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const [index, { eventId }] of claims.entries()) {
    const holder = holders[index]
    if (holder !== undefined && holder !== eventId) found.set(eventId, holder)
  }
  return found
}

/** Without a version two changes of one object look the same, and each of them is news. */
function isTellable(event: EventRow, { keyFields }: DeduplicationConfig): boolean {
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
