import { Queue as Bull, type Job } from 'bullmq'
import { withTimeout } from '../concurrency/abort.ts'
import type { Backoff } from '../concurrency/retry.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../log/index.ts'
import type { RedisLink } from '../redis/index.ts'
import type { Clock } from '../time/clock.ts'
import { type Addition, batcher, byQueue, wholeMs } from './batcher.ts'
import { LocalRuns } from './local-runs.ts'
import { JOB_BACKOFF, type Queue } from './queue.ts'
import { bullName, type JobData, RedisWorker } from './redis-worker.ts'

export interface RedisQueueDeps {
  redis: RedisLink
  clock: Clock
  ids: Ids
  log: Log
  /** The time between two checks for jobs of silent workers. Default 2,000. */
  stalledMs?: number
  /** Between failed runs of one job. */
  backoff?: Backoff
}

/** Long enough for a large batch on a busy server. */
const COMMAND_MS = 10_000
const RESEND_MS = 1000
const JOB_OPTIONS = {
  attempts: 2 ** 31,
  backoff: { type: 'custom' },
  removeOnComplete: true,
  stackTraceLimit: 0,
} as const
/** BullMQ writes a stream of events, which nothing reads. */
const MAX_EVENTS = 100

/**
 * The queue on Redis, with BullMQ. A job's key is its deduplication id: one job per key waits, and a job added during a run
 * follows that run (`keepLastIfActive`). Jobs that Redis does not accept run in this process until it accepts them.
 */
export function redisQueue(deps: RedisQueueDeps): Queue {
  const { redis, clock, ids, log, stalledMs = 2000, backoff = JOB_BACKOFF } = deps
  const connection = redis.connect('queue', 'patient')
  const prefix = redis.key('bull')
  const producers = new Map<string, Bull<JobData>>()
  const locals = new Map<string, LocalRuns>()
  const workers = new Map<string, RedisWorker>()
  let resending: NodeJS.Timeout | undefined
  let isClosed = false

  const addSoon = batcher<Addition>((jobs) => storeOrKeep(jobs, true))
  // Ignored when the job already runs again: the later run decides when it runs next.
  const addNext = batcher<Addition>((jobs) => storeOrKeep(jobs, false))

  async function storeOrKeep(jobs: readonly Addition[], follows: boolean): Promise<void> {
    for (const [queue, ofQueue] of byQueue(jobs)) {
      try {
        if (redis.commands.status !== 'ready') throw new Error('Redis is not connected')
        await withTimeout(store(queue, ofQueue, follows), COMMAND_MS, () => new Error('Redis did not respond in time'))
      } catch (error) {
        log.debug('Redis did not accept jobs.', { operation: 'queue.add', error, metadata: { queue } })
        if (!isClosed) for (const { key, delayMs } of ofQueue) localRuns(queue).add(key, delayMs)
      }
    }
  }

  /** With `follows`, a job that is running runs once more. */
  async function store(queue: string, jobs: readonly Addition[], follows: boolean): Promise<void> {
    const bull = producer(queue)
    const requests = jobs.map((job) => request(job, follows))
    const stored = await bull.addBulk(requests)
    // A job due now atomically replaces a delayed one. A delayed job may find another one that is due earlier or later.
    const duplicates = jobs.flatMap((job, index) => {
      const id = stored[index]?.id
      return job.delayMs === 0 || id === undefined || id === requests[index]?.opts.jobId ? [] : { job, id }
    })
    await Promise.all(
      duplicates.map(async ({ job, id }) => {
        const other = await bull.getJob(id)
        const isDelayed = other !== undefined && other.delay > 0
        if (isDelayed && isLater(other, job)) await bull.addBulk([request(job, false, true)])
        // The other job may be running. An extra run is harmless; a missing one is not.
        if (!isDelayed && follows) await bull.addBulk([request({ ...job, delayMs: 0 }, true)])
      }),
    )
  }

  function request({ key, delayMs }: Addition, follows: boolean, replace = delayMs === 0) {
    const deduplication = { id: key, replace, keepLastIfActive: follows && delayMs === 0 }
    return { name: 'run', data: { key }, opts: { jobId: ids('job'), delay: delayMs, deduplication } }
  }

  function isLater({ timestamp, processedOn, attemptsMade, delay }: Job<JobData>, { delayMs }: Addition): boolean {
    const delayedAt = attemptsMade > 0 ? (processedOn ?? timestamp) : timestamp
    return delayedAt + delay > clock.now() + delayMs
  }

  function producer(queue: string): Bull<JobData> {
    let bull = producers.get(queue)
    if (bull === undefined) {
      bull = new Bull<JobData>(bullName(queue), {
        connection: redis.commands,
        prefix,
        defaultJobOptions: JOB_OPTIONS,
        // The check sends INFO, also while Redis is down. Workers need it: without it they wait for whole seconds.
        skipVersionCheck: true,
        streams: { events: { maxLen: MAX_EVENTS } },
      })
      // The link logs lost connections, and callers receive every failure.
      bull.on('error', () => {})
      producers.set(queue, bull)
    }
    return bull
  }

  function localRuns(queue: string): LocalRuns {
    let local = locals.get(queue)
    if (local === undefined) {
      local = new LocalRuns({
        clock,
        backoff,
        onWaiting() {
          if (!isClosed) resending ??= setTimeout(resend, RESEND_MS)
        },
        onFailure: (error, key, failures) =>
          log.warn('A job failed; it will run again.', {
            operation: 'queue.work',
            error,
            metadata: { queue, key, failures },
          }),
      })
      locals.set(queue, local)
    }
    return local
  }

  /** Runs every `RESEND_MS` while jobs wait here, and when Redis is connected again. */
  function resend(): void {
    clearTimeout(resending)
    resending = undefined
    if (redis.commands.status !== 'ready') return
    for (const [queue, local] of locals) {
      for (const { key, delayMs } of local.take()) void addSoon({ queue, key, delayMs: wholeMs(delayMs) })
    }
  }

  redis.commands.on('ready', resend)

  return {
    provider: 'redis',
    add: (queue, key, { delayMs = 0 } = {}) => addSoon({ queue, key, delayMs: wholeMs(delayMs) }),
    async addIn(tx, queue, keys, { delayMs = 0 } = {}) {
      // After the commit, so that the run sees the rows that the transaction wrote.
      tx.afterCommit(() => {
        for (const key of new Set(keys)) void addSoon({ queue, key, delayMs: wholeMs(delayMs) })
      })
    },
    work(queue, options, run) {
      if (workers.has(queue)) throw new Error(`this process already has a worker of the queue "${queue}"`)
      const worker = new RedisWorker(
        {
          log,
          backoff,
          stalledMs,
          connection,
          prefix,
          local: localRuns(queue),
          addNext: (key, nextRunInMs) => void addNext({ queue, key, delayMs: wholeMs(nextRunInMs) }),
        },
        queue,
        options,
        run,
      )
      workers.set(queue, worker)
      return {
        async stop(graceMs) {
          await worker.stop(graceMs)
          if (workers.get(queue) === worker) workers.delete(queue)
        },
      }
    },
    async releaseInstance() {
      // BullMQ moves stalled jobs to other workers when their locks expire.
    },
    ping: () => redis.ping(),
    async close() {
      isClosed = true
      clearTimeout(resending)
      redis.commands.off('ready', resend)
      await Promise.all([...workers.values()].map((worker) => worker.stop(0)))
      const closing = [...producers.values()].map((bull) => bull.close())
      await withTimeout(Promise.allSettled(closing), COMMAND_MS / 10, () => new Error('slow')).catch(() => {})
      connection.disconnect()
    },
  }
}
