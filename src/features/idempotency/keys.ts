import { randomUUID } from 'node:crypto'
import type { Db, Tx } from '../../infra/db/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Sealer } from '../../lib/seal.ts'
import { answerText, type KeptAnswer, parseAnswer, REPLAYED } from './answer.ts'
import type { Fingerprint } from './fingerprint.ts'
import { type KeyRow, keyStore, type Lease, type RunningMark } from './store.ts'

const LEASE_MS = 60_000
const LIFE_MS = 24 * 60 * 60 * 1000
/** Most first requests end within it; a dead one's lease may last longer, then the repeat asks again. */
const RETRY_AFTER_SECONDS = '1'

/** Either the right to run the request, or the answer it got before. */
export type Claim = { lease: Lease } | { status: number; body: unknown }

/**
 * Who runs the request of a key. The lease is guarded by its token, so clocks of replicas that differ can only make a repeat start
 * early: then the first one's commit fails and has no effect.
 */
export function claims({ db, clock, sealer }: { db: Db; clock: Clock; sealer: Sealer }) {
  const context = (id: string) => `idempotency:${id}`

  /** Throws `idempotency_running` or `idempotency_mismatch`, or the error that was the first answer. */
  async function claim(print: Fingerprint): Promise<Claim> {
    const now = clock.now()
    const mark = { ...print, token: randomUUID(), leaseUntil: now + LEASE_MS, expiresAt: now + LIFE_MS }
    const row = await db.transaction((tx) => take(tx, mark, now))
    return row === undefined ? { lease: { id: mark.id, token: mark.token } } : kept(row)
  }

  /** The row of the answer, or undefined when the lease is ours. */
  async function take(tx: Tx, mark: RunningMark, now: number): Promise<KeyRow | undefined> {
    const store = keyStore(tx, db.dialect)
    if (await store.insert(mark)) return undefined
    const row = await store.lock(mark.id)
    // Purged or released between the two statements: as if the first request were still ending.
    if (row === undefined) throw stillRunning()
    const alive = row.expiresAt > now
    if (alive && row.bodyHash !== mark.bodyHash) throw new AppError('idempotency_mismatch')
    if (alive && row.state === 'done') return row
    if (alive && row.leaseUntil > now) throw stillRunning()
    await store.takeOver(mark)
    return undefined
  }

  function kept(row: KeyRow): Claim {
    if (row.answer === null) {
      throw new AppError('conflict', {
        message: `The first request with this Idempotency-Key ended with status ${row.status}; its answer was too large to be kept.`,
        headers: REPLAYED,
      })
    }
    const answer = parseAnswer(sealer.open(row.answer, context(row.id)))
    if ('error' in answer) throw answer.error
    return { status: row.status ?? 200, body: answer.body }
  }

  /**
   * In the transaction of the effects: both or neither. False when another request has taken the lease: then the
   * transaction must not commit.
   */
  async function finish(tx: Tx, lease: Lease, status: number, answer: KeptAnswer): Promise<boolean> {
    const text = answerText(answer)
    const sealed = text === undefined ? null : sealer.seal(text, context(lease.id))
    return keyStore(tx, db.dialect).finish(lease, status, sealed)
  }

  function release(lease: Lease): Promise<void> {
    return db.transaction((tx) => keyStore(tx, db.dialect).release(lease))
  }

  return { claim, finish, release }
}

export function stillRunning(): AppError {
  return new AppError('idempotency_running', { headers: { 'retry-after': RETRY_AFTER_SECONDS } })
}
