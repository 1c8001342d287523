import type { PurgeRule, RetentionSetting } from '../feature.ts'
import { sleep } from '../platform/concurrency/abort.ts'
import type { Db } from '../platform/db/index.ts'
import type { Log } from '../platform/log/index.ts'
import type { Queue, Worker } from '../platform/queue/index.ts'
import type { Clock } from '../platform/time/clock.ts'

interface RetentionDeps {
  db: Db
  queue: Queue
  clock: Clock
  log: Log
  /** In this order. */
  rules: readonly PurgeRule[]
  /** Days. */
  settings: Readonly<Record<RetentionSetting, number>>
}

/** Deletes expired rows once an hour, on one replica at a time. */
export interface Retention {
  start(): Promise<void>
  stop(): Promise<void>
}

const PAUSE_MS = 20
const QUEUE = 'retention'
const JOB = 'purge'
const EVERY_MS = 60 * 60 * 1000
const ROWS_PER_TRANSACTION = 200
const DAY_MS = 24 * 60 * 60 * 1000
const GRACE_MS = 5000

export function retentionJob({ db, queue, clock, log, rules, settings }: RetentionDeps): Retention {
  const stopping = new AbortController()
  let worker: Worker | undefined
  let renewal: NodeJS.Timeout | undefined

  /**
   * Small transactions with a pause after each, so that a large backlog of expired rows does not block requests. Returns false when
   * stopped before the end.
   */
  async function run(signal: AbortSignal): Promise<boolean> {
    const startedMs = clock.monotonic()
    const deleted: Record<string, number> = {}
    for (const { rows: what, purge, keptFor } of rules) {
      const keptMs = typeof keptFor === 'number' ? keptFor : settings[keptFor] * DAY_MS
      const beforeMs = clock.now() - keptMs
      for (let rows = -1; rows !== 0 && !signal.aborted; ) {
        rows = await db.transaction((tx) => purge(tx, beforeMs, ROWS_PER_TRANSACTION))
        if (rows === 0) continue
        deleted[what] = (deleted[what] ?? 0) + rows
        await sleep(PAUSE_MS, signal)
      }
    }
    const total = Object.values(deleted).reduce((sum, rows) => sum + rows, 0)
    if (total > 0) {
      const about = { operation: 'service.retention', durationMs: clock.monotonic() - startedMs, metadata: deleted }
      log.info(`Deleted ${total} expired rows.`, about)
    }
    return !signal.aborted
  }

  return {
    async start() {
      worker = queue.work(QUEUE, { concurrency: 1 }, async (_key, { signal }) => {
        const isDone = await run(AbortSignal.any([signal, stopping.signal]))
        return { nextRunInMs: isDone ? EVERY_MS : 0 }
      })
      await queue.add(QUEUE, JOB)
      // Has an effect only when the queue lost the job.
      renewal = setInterval(() => {
        queue.add(QUEUE, JOB, { delayMs: EVERY_MS }).catch((error: unknown) => {
          log.warn('Cannot schedule the deletion of expired rows; the next attempt is in an hour.', {
            operation: 'service.retention',
            error,
          })
        })
      }, EVERY_MS)
    },
    async stop() {
      stopping.abort()
      clearInterval(renewal)
      await worker?.stop(GRACE_MS)
      worker = undefined
    },
  }
}
