import { Queue as Bull, type Job } from 'bullmq'
import { withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Backoff } from '../../lib/retry.ts'
import type { Log } from '../log/index.ts'
import type { RedisLink } from '../redis/index.ts'
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

/** Well beyond one command: a large batch on a busy server is not an absence. */
const COMMAND_MS = 10_000
const RESEND_MS = 1000
const JOB_OPTIONS = {
  attempts: 2 ** 31,
  backoff: { type: 'custom' },
  removeOnComplete: true,
  stackTraceLimit: 0,
} as const
/** BullMQ writes a stream of events, which has no reader here. */
const MAX_EVENTS = 100

/**
 * The queue in Redis is BullMQ: a job's key is its deduplication id, so that one job per key waits, and one added during the
 * run follows it (`keepLastIfActive`). What Redis does not accept runs in this process until Redis accepts it.
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
  // A run's own next time is void when the job runs already: that run began later and decides anew.
  const addNext = batcher<Addition>((jobs) => storeOrKeep(jobs, false))

  async function storeOrKeep(jobs: readonly Addition[], follows: boolean): Promise<void> {
    for (const [queue, ofQueue] of byQueue(jobs)) {
      try {
        if (redis.commands.status !== 'ready') throw new Error('Redis cannot be reached.')
        await withTimeout(store(queue, ofQueue, follows), COMMAND_MS, () => new Error('Redis is silent.'))
      } catch (error) {
        log.debug('Redis did not accept jobs.', { operation: 'queue.add', error, metadata: { queue } })
        if (!isClosed) for (const { key, delayMs } of ofQueue) localRuns(queue).add(key, delayMs)
      }
    }
  }

  /** `follows`: a job that runs now runs once more. */
  async function store(queue: string, jobs: readonly Addition[], follows: boolean): Promise<void> {
    const bull = producer(queue)
    const requests = jobs.map((job) => request(job, follows))
    const stored = await bull.addBulk(requests)
    // A job that is due now has replaced a delayed one, in one step. A delayed one may have met an earlier or a later one.
    const met = jobs.flatMap((job, index) => {
      const id = stored[index]?.id
      return job.delayMs === 0 || id === undefined || id === requests[index]?.opts.jobId ? [] : { job, id }
    })
    await Promise.all(
      met.map(async ({ job, id }) => {
        const other = await bull.getJob(id)
        const isDelayed = other !== undefined && other.delay > 0
        if (isDelayed && isLater(other, job)) await bull.addBulk([request(job, false, true)])
        // It may be running: a run that comes early does less harm than one that never comes.
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
        // It would ask for INFO while Redis is away. Not for workers: theirs then wait for whole seconds.
        skipVersionCheck: true,
        streams: { events: { maxLen: MAX_EVENTS } },
      })
      // The link says when Redis is away; the caller receives every failure.
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
          log.warn('A job failed and will be run again.', {
            ...{ operation: 'queue.work', error },
            metadata: { queue, key, failures },
          }),
      })
      locals.set(queue, local)
    }
    return local
  }

  /** Called again when Redis is back. */
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
      // Never before the commit: a run that starts after it must see what was written.
      tx.afterCommit(() => {
        for (const key of new Set(keys)) void addSoon({ queue, key, delayMs: wholeMs(delayMs) })
      })
    },
    work(queue, options, run) {
      if (workers.has(queue)) throw new Error(`this process already has a worker of the queue "${queue}"`)
      const worker = new RedisWorker(
        {
          ...{ log, backoff, stalledMs, connection, prefix, local: localRuns(queue) },
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
      // BullMQ gives stalled jobs to others when their locks have ended.
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
