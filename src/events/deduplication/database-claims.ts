import { type Handle, insertRows, padded, type Tx } from '../../platform/db/index.ts'
import type { Claim, Claims } from './key-claims.ts'

interface Held {
  key: string
  eventId: string
  expiresAt: number
}

/** Both engines limit the number of parameters per statement. */
const ROWS_PER_STATEMENT = 200

/**
 * Claims as rows, in the transaction that uses their results. Nearly all keys are new, so the first round writes them unread. A key
 * that has a holder is not written: the next round reads its holder, decides in memory and writes those that it grants.
 */
export function databaseClaims(tx: Tx): Claims {
  return {
    async claim(claims, ttlMs) {
      const holders = claims.map(({ eventId }) => eventId)
      let undecided = claims.map((claim, index) => ({ ...claim, index }))
      // Whether the second claim of a key is granted depends on the first, and that one on the holder.
      let held = await find(tx, repeated(claims))
      while (undecided.length > 0) {
        const granted = new Map<string, Held>()
        for (const { key, eventId, atMs, index } of undecided) {
          const holder = granted.get(key) ?? held.get(key)
          const isHeld = holder !== undefined && holder.expiresAt > atMs
          holders[index] = isHeld ? holder.eventId : eventId
          if (!isHeld) granted.set(key, { key, eventId, expiresAt: atMs + ttlMs })
        }
        const written = await put(tx, [...granted.values()], ttlMs)
        undecided = undecided.filter(({ key }) => granted.has(key) && !written.has(key))
        held = await find(tx, [...new Set(undecided.map(({ key }) => key))])
      }
      return holders
    },
  }
}

/** The keys of more than one claim. */
function repeated(claims: readonly Claim[]): string[] {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const { key } of claims) (seen.has(key) ? again : seen).add(key)
  return [...again]
}

/** Holders by key, including expired ones. */
async function find(handle: Handle, keys: readonly string[]): Promise<Map<string, Held>> {
  const found = new Map<string, Held>()
  for (const some of chunks(keys)) {
    const rows = await handle.selectFrom('deduplicationClaims').selectAll().where('key', 'in', padded(some)).execute()
    for (const row of rows) found.set(row.key, row)
  }
  return found
}

/** Writes the granted claims, each key once. Returns the keys that no other transaction took. */
async function put(tx: Tx, granted: readonly Held[], ttlMs: number): Promise<Set<string>> {
  // Sorted, so that two transactions that write the same keys do not deadlock.
  const rows = granted.toSorted((left, right) => (left.key < right.key ? -1 : 1))
  const written = await insertRows(
    tx,
    'deduplicationClaims',
    rows,
    `on conflict ("key") do update set "eventId" = excluded."eventId", "expiresAt" = excluded."expiresAt"
      where "deduplicationClaims"."expiresAt" <= excluded."expiresAt" - ${ttlMs} returning "key"`,
  )
  return new Set(written.flatMap(({ key }) => key ?? []))
}

/** Deletes up to `limit` claims that expired before `beforeMs`. Returns how many. */
export async function purgeDeduplicationClaims(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const expired = tx
    .selectFrom('deduplicationClaims')
    .select('key')
    .where('expiresAt', '<', beforeMs)
    .orderBy('expiresAt')
    .limit(limit)
  const rows = await tx.deleteFrom('deduplicationClaims').where('key', 'in', expired).returning('key').execute()
  return rows.length
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT) {
    yield items.slice(start, start + ROWS_PER_STATEMENT)
  }
}
