import { LRUCache } from 'lru-cache'
import type { Bus } from '../../platform/bus/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { type Authenticator, sentKey } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import { atMost } from '../../platform/lru.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { included, isKey, keyHash } from './api-key.ts'
import { apiKeyStore } from './store.ts'
import type { ApiKeyRow } from './tables.ts'

export interface StoredKeysDeps {
  db: Db
  bus: Bus
  clock: Clock
  log: Log
}

/** Accepts the keys of the table. */
export interface StoredKeys extends Authenticator {
  /** Call it in the transaction that deletes a key: ends the caches of all instances after the commit. */
  revoked(tx: Tx): void
  start(): void
  /** Waits for writes of `lastUsedAt`. Twice safely. */
  stop(): Promise<void>
}

/** How long a revoked key may be accepted when the hint to this instance was lost. */
const CACHED_MS = 10_000
const MAX_CACHED = 10_000
const MARK_EVERY_MS = 60_000
const REVOKED_TOPIC = 'keys.revoked'

/**
 * A key is read from the database once per ten seconds. Whatever the hint says, it empties the cache: revoking is rare, and a
 * lost hint (undefined) may have been about any key.
 */
export function storedKeys({ db, bus, clock, log }: StoredKeysDeps): StoredKeys {
  const cached = new LRUCache<string, { row: ApiKeyRow; readAtMs: number }>(atMost(MAX_CACHED))
  /** When this instance last wrote `lastUsedAt`. */
  const markedAtMs = new LRUCache<string, number>(atMost(MAX_CACHED))
  const writes = new Set<Promise<void>>()
  let revision = 0
  let unsubscribe = () => {}

  function forget(): void {
    revision += 1
    cached.clear()
  }

  async function find(hash: string): Promise<ApiKeyRow | undefined> {
    const cachedKey = cached.get(hash)
    const readAtMs = clock.monotonic()
    if (cachedKey !== undefined && readAtMs - cachedKey.readAtMs < CACHED_MS) return cachedKey.row
    const revisionBefore = revision
    const row = await apiKeyStore(db.read).findByHash(hash)
    // A key that was revoked during the read must not return to the cache.
    if (row !== undefined && revision === revisionBefore) cached.set(hash, { row, readAtMs })
    return row
  }

  function markUsed({ id, lastUsedAt }: ApiKeyRow): void {
    const nowMs = clock.now()
    const markedMs = markedAtMs.get(id) ?? lastUsedAt ?? 0
    if (nowMs - markedMs < MARK_EVERY_MS) return
    markedAtMs.set(id, nowMs)
    const write = db
      .statement((handle) => apiKeyStore(handle).markUsed(id, nowMs, nowMs - MARK_EVERY_MS))
      .catch((error: unknown) => {
        markedAtMs.delete(id)
        log.debug('Cannot store when an API key was used. The next request with it tries again.', {
          operation: 'keys.use',
          error,
        })
      })
      .finally(() => writes.delete(write))
    writes.add(write)
  }

  return {
    async authenticate(request, isUse) {
      const sent = sentKey(request)
      if (sent === undefined || !isKey(sent)) return undefined
      const row = await find(keyHash(sent))
      if (row === undefined || (row.expiresAt !== null && row.expiresAt <= clock.now())) return undefined
      if (isUse) markUsed(row)
      return { owner: `key:${row.id}`, scopes: included(row.scope) }
    },
    revoked(tx) {
      tx.afterCommit(() => {
        forget()
        bus.publish(REVOKED_TOPIC, '')
      })
    },
    start() {
      unsubscribe = bus.subscribe(REVOKED_TOPIC, forget)
    },
    async stop() {
      unsubscribe()
      await Promise.all(writes)
    },
  }
}
