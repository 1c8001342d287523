import type { Handle, Tx } from '../../infra/db/index.ts'

export interface DeduplicationConfig {
  enabled: boolean
  keyFields: string[]
  /** For how long an event suppresses those with the same key. */
  ttlSeconds: number
}

/** One key, held by an event until a time. */
export interface Claim {
  key: string
  eventId: string
  expiresAt: number
}

export interface DeduplicationStore {
  config(): Promise<DeduplicationConfig>
  /** Changes what is given; answers the whole. */
  configure(changes: Partial<DeduplicationConfig>): Promise<DeduplicationConfig>
  /** Claims by key, those that ran out included. */
  find(keys: readonly string[]): Promise<Map<string, Claim>>
  /** Writes claims, each key at most once, over those there are. */
  put(claims: readonly Claim[]): Promise<void>
  /** Takes the key when nobody holds it at `nowMs`; false when somebody does. */
  take(claim: Claim, nowMs: number): Promise<boolean>
}

/** Both engines limit the number of parameters of one statement. */
const ROWS_PER_STATEMENT = 200

export function deduplicationStore(handle: Handle): DeduplicationStore {
  const insert = (claims: readonly Claim[]) => handle.insertInto('deduplicationClaims').values([...claims])
  return {
    async config() {
      const row = await handle
        .selectFrom('deduplicationConfig')
        .selectAll()
        .where('id', '=', 1)
        .executeTakeFirstOrThrow()
      return { enabled: row.enabled === 1, keyFields: JSON.parse(row.keyFields), ttlSeconds: row.ttlSeconds }
    },
    async configure({ enabled, keyFields, ttlSeconds }) {
      const changes = {
        ...(enabled !== undefined && { enabled: Number(enabled) }),
        ...(keyFields !== undefined && { keyFields: JSON.stringify(keyFields) }),
        ...(ttlSeconds !== undefined && { ttlSeconds }),
      }
      if (Object.keys(changes).length > 0) {
        await handle.updateTable('deduplicationConfig').set(changes).where('id', '=', 1).execute()
      }
      return this.config()
    },
    async find(keys) {
      const found = new Map<string, Claim>()
      for (const some of steps(keys)) {
        const rows = await handle.selectFrom('deduplicationClaims').selectAll().where('key', 'in', some).execute()
        for (const row of rows) found.set(row.key, row)
      }
      return found
    },
    async put(claims) {
      for (const some of steps(claims)) {
        await insert(some)
          .onConflict((conflict) =>
            conflict.column('key').doUpdateSet((eb) => ({
              eventId: eb.ref('excluded.eventId'),
              expiresAt: eb.ref('excluded.expiresAt'),
            })),
          )
          .execute()
      }
    },
    async take(claim, nowMs) {
      const { eventId, expiresAt } = claim
      const { numInsertedOrUpdatedRows } = await insert([claim])
        .onConflict((conflict) =>
          conflict
            .column('key')
            .doUpdateSet({ eventId, expiresAt })
            .where('deduplicationClaims.expiresAt', '<=', nowMs),
        )
        .executeTakeFirst()
      return numInsertedOrUpdatedRows === 1n
    },
  }
}

/** Deletes up to `limit` claims that ended before `beforeMs`; true when there may be more. */
export async function purgeDeduplicationClaims(tx: Tx, beforeMs: number, limit: number): Promise<boolean> {
  const ended = tx
    .selectFrom('deduplicationClaims')
    .select('key')
    .where('expiresAt', '<', beforeMs)
    .orderBy('expiresAt')
    .limit(limit)
  const rows = await tx.deleteFrom('deduplicationClaims').where('key', 'in', ended).returning('key').execute()
  return rows.length === limit
}

function* steps<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT) {
    yield items.slice(start, start + ROWS_PER_STATEMENT)
  }
}
