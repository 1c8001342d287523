import { randomUUID } from 'node:crypto'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError, ERROR_CATALOGUE, type ErrorCode, type ErrorDetail } from '../../platform/errors/app-error.ts'
import { IDEMPOTENCY_KEY_KEPT_MS } from '../../platform/idempotency-key.ts'
import type { SealedColumn } from '../../platform/secrets/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type KeyRow, keyStore, type Lease, type RunningKey } from './store.ts'

const LEASE_MS = 60_000
const MAX_STORED_BYTES = 64 * 1024
/** Most first requests finish within a second. After a crash the lease lasts longer, and the client retries again. */
const RETRY_AFTER_SECONDS = '1'

export const REPLAYED_HEADERS = { 'idempotent-replayed': 'true' }

/** The right to run the request, or its stored response. */
export type Claim = { lease: Lease } | { status: number; body: unknown }

/** A stored response: the body, or the error without its request id, because each replay has its own. */
type StoredResponse = { body: unknown } | { error: { code: ErrorCode; message: string; details: ErrorDetail[] } }

/**
 * Decides which request runs for a key, and stores its response for the others. The lease's token guards every write, so clock
 * differences between replicas can only let a duplicate start too early. The commit of the first request then fails without effect.
 */
export function storedResponses({ db, clock, sealer }: { db: Db; clock: Clock; sealer: Sealer }) {
  /** Throws idempotency_running, idempotency_mismatch, or the stored error of the first request. */
  async function claim(fingerprint: Fingerprint): Promise<Claim> {
    const nowMs = clock.now()
    const token = randomUUID()
    const key = { ...fingerprint, token, leaseUntil: nowMs + LEASE_MS, expiresAt: nowMs + IDEMPOTENCY_KEY_KEPT_MS }
    const done = await db.transaction((tx) => takeLease(tx, key, nowMs))
    return done === undefined ? { lease: { id: key.id, token } } : replay(done)
  }

  /** Returns the finished row, or undefined when this request now holds the lease. */
  async function takeLease(tx: Tx, key: RunningKey, nowMs: number): Promise<KeyRow | undefined> {
    const store = keyStore(tx, db.dialect)
    if (await store.insert(key)) return undefined
    const row = await store.lock(key.id)
    // Deleted between the two statements. To the client, the first request is still finishing.
    if (row === undefined) throw stillRunning()
    const isCurrent = row.expiresAt > nowMs
    if (isCurrent && row.bodyHash !== key.bodyHash) throw new AppError('idempotency_mismatch')
    if (isCurrent && row.state === 'done') return row
    if (isCurrent && row.leaseUntil > nowMs) throw stillRunning()
    await store.takeOver(key)
    return undefined
  }

  function replay(row: KeyRow): Claim {
    if (row.answer === null) {
      throw new AppError('conflict', {
        message: `The first request with this Idempotency-Key ended with status ${row.status}. Its response was too large to store.`,
        headers: REPLAYED_HEADERS,
      })
    }
    const stored: StoredResponse = JSON.parse(sealer.open(row.answer, sealContext(row.id)))
    if (!('error' in stored)) return { status: row.status ?? 200, body: stored.body }
    const { code, message, details } = stored.error
    if (!(code in ERROR_CATALOGUE)) throw new Error(`The stored response has the unknown error code "${code}".`)
    throw new AppError(code, { message, details, headers: REPLAYED_HEADERS })
  }

  /**
   * Stores the response. Call it in the transaction of the effects. Returns false when another request took the lease;
   * the transaction must then roll back.
   */
  async function finish(tx: Tx, lease: Lease, status: number, response: StoredResponse): Promise<boolean> {
    const text = JSON.stringify(response)
    const isTooLarge = Buffer.byteLength(text) > MAX_STORED_BYTES
    const sealed = isTooLarge ? null : sealer.seal(text, sealContext(lease.id))
    return keyStore(tx, db.dialect).finish(lease, status, sealed)
  }

  /**
   * Ends a failed request: stores an error that a retry would get again, or releases the key for any other. Has no effect
   * when another request took the lease.
   */
  async function fail(lease: Lease, error: AppError): Promise<void> {
    const { code, message, details, status } = error
    if (!isFinal(error)) return db.transaction((tx) => keyStore(tx, db.dialect).release(lease))
    await db.transaction((tx) => finish(tx, lease, status, { error: { code, message, details } }))
  }

  return { claim, finish, fail }
}

/** A retry may well succeed after a 5xx, a 401, a 429, or a lost lease. */
function isFinal({ status, code }: AppError): boolean {
  return status < 500 && status !== 401 && status !== 429 && code !== 'idempotency_running'
}

export function stillRunning(): AppError {
  return new AppError('idempotency_running', { headers: { 'retry-after': RETRY_AFTER_SECONDS } })
}

const sealContext = (id: string) => `idempotency:${id}`

export const SEALED_RESPONSES: SealedColumn = { table: 'idempotencyKeys', key: 'id', column: 'answer', sealContext }
