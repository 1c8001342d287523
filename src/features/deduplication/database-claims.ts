import { type Handle, insertRows, padded, type Tx } from '../../infra/db/index.ts'
import type { Claims } from './claims.ts'

interface Held {
  key: string
  eventId: string
  expiresAt: number
}

/** Both engines limit the number of parameters per statement. */
const ROWS_PER_STATEMENT = 200

/**
 * Claims as rows, in the transaction that uses their results. Each round reads the holders, decides in memory and writes the
 * granted keys; a key that another transaction took in between goes to the next round.
 */
export function databaseClaims(tx: Tx): Claims {
  return {
    async claim(claims, ttlMs) {
      const holders = claims.map(({ eventId }) => eventId)
      let undecided = claims.map((claim, index) => ({ ...claim, index }))
      while (undecided.length > 0) {
        const held = await find(tx, [...new Set(undecided.map(({ key }) => key))])
        const granted = new Map<string, Held>()
        for (const { key, eventId, atMs, index } of undecided) {
          const holder = granted.get(key) ?? held.get(key)
          const isHeld = holder !== undefined && holder.expiresAt > atMs
          holders[index] = isHeld ? holder.eventId : eventId
          if (!isHeld) granted.set(key, { key, eventId, expiresAt: atMs + ttlMs })
        }
        const written = await put(tx, [...granted.values()], ttlMs)
        undecided = undecided.filter(({ key }) => granted.has(key) && !written.has(key))
      }
      return holders
    },
  }
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
