import type { Tx } from '../../platform/db/index.ts'

/** Deletes up to `limit` expired codes and returns how many. */
export async function purgeCodes(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx.selectFrom('bookingCodes').select('id').where('expiresAt', '<', beforeMs).limit(limit).execute()
  if (old.length === 0) return 0
  const ids = old.map(({ id }) => id)
  await tx.deleteFrom('bookingCodes').where('id', 'in', ids).execute()
  return ids.length
}

/** Deletes up to `limit` budgets in which nothing counts any more and returns how many. */
export async function purgeGuestCounters(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('guestCounters')
    .select('scope')
    .where('expiresAt', '<', beforeMs)
    .limit(limit)
    .execute()
  if (old.length === 0) return 0
  const scopes = old.map(({ scope }) => scope)
  // A request may have counted a message meanwhile.
  await tx.deleteFrom('guestCounters').where('scope', 'in', scopes).where('expiresAt', '<', beforeMs).execute()
  return scopes.length
}

/** Deletes up to `limit` addresses that were not used since `beforeMs` and returns how many. */
export async function purgeKnownGuests(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx.selectFrom('knownGuests').select('id').where('seenAt', '<', beforeMs).limit(limit).execute()
  if (old.length === 0) return 0
  const ids = old.map(({ id }) => id)
  await tx.deleteFrom('knownGuests').where('id', 'in', ids).execute()
  return ids.length
}
