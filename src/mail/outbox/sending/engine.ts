import { leasedRows, releaseLeasesOfDead } from '../../../platform/db/index.ts'
import { type Queue, sweptWorker } from '../../../platform/queue/index.ts'
import { SEND_QUEUE } from '../store.ts'
import { OUTBOX_TIMING, type OutboxTiming, type SendRunDeps } from './account-run.ts'
import { batchWriter } from './batch-writer.ts'
import { OUTBOX } from './claims.ts'
import { sendRun } from './send-run.ts'

interface OutboxEngineDeps extends Omit<SendRunDeps, 'timing' | 'writer'> {
  queue: Queue
  /** How long the first message of an account waits for a copy of its server. */
  copyWaitMs: number
  timing?: Partial<OutboxTiming>
}

/** The limit for a job: an account must not wait for a dead process much longer than its messages do. */
const MAX_JOB_LEASE_MS = 8000
/** The sweep after it queues the others. */
const ACCOUNTS_PER_SWEEP = 10_000
/** Accounts that send at once in this process. */
const CONCURRENCY = 64

/** The background work: the runs that send, and the sweeper that queues accounts with due messages again. */
export function outboxEngine(deps: OutboxEngineDeps) {
  const { db, clock, copyWaitMs } = deps
  const copyWaits = { ...OUTBOX_TIMING.copyWaits, unknownMs: copyWaitMs }
  const timing = { ...OUTBOX_TIMING, copyWaits, ...deps.timing }
  const stopping = new AbortController()
  const work = sweptWorker(deps, {
    name: SEND_QUEUE,
    concurrency: CONCURRENCY,
    leaseMs: Math.min(timing.leaseMs, MAX_JOB_LEASE_MS),
    run: sendRun({ ...deps, timing, writer: batchWriter(deps) }, stopping.signal),
    due: () => leasedRows(db.read, db.dialect, OUTBOX).keysDue(clock.now(), ACCOUNTS_PER_SWEEP),
    sweepMs: timing.sweepMs,
    operation: 'outbox.sweep',
  })

  return {
    async start(): Promise<void> {
      await releaseLeasesOfDead(db, OUTBOX)
      await work.start()
    },

    /** Begins no further message and waits up to `graceMs` for those being sent. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort()
      await work.stop(graceMs)
    },
  }
}
