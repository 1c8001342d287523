import type { Bus } from '../bus/index.ts'
import type { Backoff } from '../concurrency/retry.ts'
import type { Db, Handle } from '../db/index.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../log/index.ts'
import type { Clock } from '../time/clock.ts'
import { type Addition, batcher, wholeMs } from './batcher.ts'
import { DatabaseWorker } from './database-worker.ts'
import { jobStore } from './job-store.ts'
import { JOB_BACKOFF, type Queue } from './queue.ts'

export interface DatabaseQueueDeps {
  db: Db
  bus: Bus
  clock: Clock
  ids: Ids
  log: Log
  /** The id of this process, see `releaseInstance`. */
  instanceId: string
  /** The longest time between two checks for due jobs. Default 5,000. */
  pollMs?: number
  /** The time between two checks for expired leases. Default 2,000. */
  expiryMs?: number
  /** Between failed runs of one job. */
  backoff?: Backoff
}

/** The queue on job rows in the database, by the time of the database. Hints go over the bus on `jobs:<queue>`. */
export function databaseQueue(deps: DatabaseQueueDeps): Queue {
  const { db, bus, instanceId, pollMs = 5000, expiryMs = 2000, backoff = JOB_BACKOFF } = deps
  const workers = new Map<string, DatabaseWorker>()
  const store = (handle: Handle) => jobStore(handle, db.dialect)
  let expiry: NodeJS.Timeout | undefined

  const addSoon = batcher<Addition>(async (jobs) => {
    const changed = await db.transaction((tx) => store(tx).add(jobs))
    const dueNow = jobs.filter((job) => job.delayMs === 0).map((job) => job.queue)
    for (const queue of new Set([...changed, ...dueNow])) wake(queue, changed.includes(queue))
  })

  /** Sends a hint to other instances only when this process is busy. */
  function wake(queue: string, isChanged: boolean): void {
    const worker = workers.get(queue)
    if (isChanged && worker?.hasCapacity !== true) wakeOthers(queue)
    worker?.wake()
  }

  const wakeOthers = (queue: string) => bus.publish(topic(queue), instanceId)
  /** When another instance has woken all idle ones, by queue; monotonic. */
  const hintedAtMs = new Map<string, number>()

  /** Of many busy instances, one wakes the idle ones. */
  function wakeOthersOnce(queue: string): void {
    const sinceMs = deps.clock.monotonic() - (hintedAtMs.get(queue) ?? Number.NEGATIVE_INFINITY)
    if (sinceMs >= HINTED_MS) wakeOthers(queue)
  }

  async function releaseExpired(): Promise<void> {
    try {
      if (!(await store(db.read).hasExpired())) return
      for (const queue of await db.transaction((tx) => store(tx).releaseExpired())) wake(queue, true)
    } catch (error) {
      deps.log.warn('Cannot check for expired leases of jobs; retrying.', { operation: 'queue.expiry', error })
    }
  }

  return {
    provider: 'database',
    add: (queue, key, { delayMs = 0 } = {}) => addSoon({ queue, key, delayMs: wholeMs(delayMs) }),
    async addIn(tx, queue, keys, { delayMs = 0 } = {}) {
      if (keys.length === 0) return
      const changed = await store(tx).add([...new Set(keys)].map((key) => ({ queue, key, delayMs: wholeMs(delayMs) })))
      tx.afterCommit(() => {
        // Each is due again when its run ends, and the end of a run looks for due jobs.
        const isRunning = changed.length === 0 && workers.get(queue)?.runsAll(keys) === true
        if (!isRunning) wake(queue, changed.length > 0)
      })
    },
    work(queue, options, run) {
      if (workers.has(queue)) throw new Error(`this process already has a worker of the queue "${queue}"`)
      const worker = new DatabaseWorker(
        { ...deps, pollMs, backoff, onFull: () => wakeOthersOnce(queue) },
        queue,
        options,
        run,
      )
      workers.set(queue, worker)
      expiry ??= setInterval(() => void releaseExpired(), expiryMs)
      const unsubscribe = bus.subscribe(topic(queue), (from) => {
        if (from === instanceId) return
        hintedAtMs.set(queue, deps.clock.monotonic())
        worker.wakeByHint()
      })
      return {
        async stop(graceMs) {
          unsubscribe()
          await worker.stop(graceMs)
          if (workers.get(queue) === worker) workers.delete(queue)
        },
      }
    },
    async releaseInstance(instance) {
      const queues = await db.transaction((tx) => store(tx).releaseInstance(instance))
      for (const queue of queues) wake(queue, true)
    },
    ping: () => db.ping(),
    async close() {
      clearInterval(expiry)
      for (const worker of workers.values()) void worker.stop(0)
    },
  }
}

/** A hint of another instance is as good as an own one for so long. */
const HINTED_MS = 100

const topic = (queue: string) => `jobs:${queue}`
