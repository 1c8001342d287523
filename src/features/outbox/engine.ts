import type { Queue, Worker } from '../../infra/queue/index.ts'
import { OUTBOX_TIMING, type OutboxTiming, type SendRunDeps, sendRun } from './account-run.ts'
import { accountsDue, releaseAllClaims } from './claims.ts'
import { SEND_QUEUE } from './service.ts'

export interface OutboxEngineDeps extends Omit<SendRunDeps, 'timing'> {
  queue: Queue
  timing?: Partial<OutboxTiming>
}

/** Of a job: an account must not wait for a dead process much longer than its messages do. */
const MAX_JOB_LEASE_MS = 8000
/** Accounts that send at once in this process. */
const CONCURRENCY = 64

/** The background work: the runs that send, and the sweeper that queues accounts with due messages again. */
export function outboxEngine(deps: OutboxEngineDeps) {
  const { db, queue, clock, log } = deps
  const timing = { ...OUTBOX_TIMING, ...deps.timing }
  const stopping = new AbortController()
  let worker: Worker | undefined
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()

  /** A lost job, or the loss of the whole queue, delays messages by at most one sweep. */
  async function queueDue(): Promise<void> {
    const due = await accountsDue(db, clock.now())
    if (due.length > 0) await db.transaction((tx) => queue.addIn(tx, SEND_QUEUE, due))
  }

  return {
    async start(): Promise<void> {
      // The file store has one process, so every existing lease is of a dead one. On PostgreSQL leases expire.
      if (db.engine === 'sqlite') await db.transaction(releaseAllClaims)
      await queueDue()
      const run = sendRun({ ...deps, timing }, stopping.signal)
      worker = queue.work(
        SEND_QUEUE,
        { concurrency: CONCURRENCY, leaseMs: Math.min(timing.leaseMs, MAX_JOB_LEASE_MS) },
        run,
      )
      timer = setInterval(() => {
        sweeping = queueDue().catch((error: unknown) =>
          log.error('Cannot query due messages to send; trying again at the next sweep.', {
            ...{ error, operation: 'outbox.sweep' },
          }),
        )
      }, timing.sweepMs)
    },

    /** Begins no further message and waits up to `graceMs` for those being sent. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort()
      clearInterval(timer)
      await sweeping
      await worker?.stop(graceMs)
      worker = undefined
    },
  }
}
