import type { Clock } from '../../lib/clock.ts'
import type { Backoff } from '../../lib/retry.ts'
import type { Log } from '../log/index.ts'
import type { RedisLink } from '../redis/index.ts'
import { byLane, earliest, whole } from './announcements.ts'
import { gather } from './gather.ts'
import type { Lanes } from './queue.ts'
import { bullPrefix, type JobRequest, type LaneRequest, RedisJobs } from './redis-jobs.ts'
import { ledger } from './redis-ledger.ts'
import { RedisLaneWorker } from './redis-worker.ts'

export interface RedisLanesDeps {
  redis: RedisLink
  clock: Clock
  log: Log
  /** Of this process; see `releaseInstance`. */
  instanceId: string
  /** How often silent workers are looked for. Default 5,000. */
  pollMs?: number
  /** Between failed runs of one subject. Default 1 s, doubled up to 5 minutes. */
  backoff?: Backoff
}

/** What could not be asked for; beyond this the sweepers of the rooms are the net. */
const MAX_UNASKED = 10_000
const ASK_AGAIN_MS = 1000

/**
 * The queue in Redis: BullMQ hands out the jobs, a ledger beside it keeps what the contract asks beyond (`redis-ledger.ts`).
 * While Redis is away each process runs what it asks for itself; everything else waits until Redis is back.
 */
export function redisLanes(deps: RedisLanesDeps): Lanes {
  const { redis, log, pollMs = 5000, backoff = { baseMs: 1000, capMs: 300_000 } } = deps
  const connection = redis.connect('queue', 'patient')
  const book = ledger(redis, redis.commands)
  const jobs = new RedisJobs(redis, book)
  const workers = new Map<string, RedisLaneWorker>()
  const unasked = new Map<string, LaneRequest>()
  let askingAgain: NodeJS.Timeout | undefined
  let isClosed = false

  const announce = gather<LaneRequest>(async (asked) => {
    for (const [lane, requests] of byLane(earliest(asked))) {
      await jobs.push(lane, requests).catch((error: unknown) => keep(lane, requests, error))
    }
  })

  /** Redis does not take it: run it here when this process works on the lane, and ask again soon. */
  function keep(lane: string, requests: readonly JobRequest[], error: unknown): void {
    if (isClosed) return
    log.debug('Jobs could not be asked for in Redis.', { operation: 'queue.add', error, metadata: { lane } })
    const worker = workers.get(lane)
    for (const request of requests) {
      if (worker !== undefined) worker.addHere(request)
      else if (unasked.size < MAX_UNASKED) unasked.set(`${lane}\n${request.subject}`, { lane, ...request })
    }
    askingAgain ??= setTimeout(handOver, ASK_AGAIN_MS)
  }

  /** While Redis is away its return calls this. */
  function handOver(): void {
    clearTimeout(askingAgain)
    askingAgain = undefined
    if (redis.commands.status !== 'ready') return
    const waiting = [...unasked.values()]
    unasked.clear()
    for (const [lane, worker] of workers) waiting.push(...worker.handOver().map((request) => ({ lane, ...request })))
    for (const request of waiting) void announce({ ...request, delayMs: whole(request.delayMs) })
  }

  redis.commands.on('ready', handOver)

  return {
    provider: 'redis',
    add: (lane, subject, { delayMs = 0 } = {}) => announce({ lane, subject, delayMs: whole(delayMs) }),
    async addIn(tx, lane, subjects, { delayMs = 0 } = {}) {
      // Never before the commit: a run that starts after it must see what was written.
      tx.afterCommit(() => {
        for (const subject of new Set(subjects)) void announce({ lane, subject, delayMs: whole(delayMs) })
      })
    },
    work(lane, options, run) {
      if (workers.has(lane)) throw new Error(`this process already works on the lane "${lane}"`)
      const worker = new RedisLaneWorker(
        {
          ...deps,
          pollMs,
          backoff,
          connection,
          prefix: bullPrefix(redis),
          ledger: ledger(redis, connection),
          settle: (subject, expectedMs) => jobs.settle(lane, subject, expectedMs),
          ask: (request) => void announce({ lane, ...request }),
          keep: (request, error) => keep(lane, [request], error),
        },
        lane,
        options,
        run,
      )
      workers.set(lane, worker)
      return {
        async stop(graceMs) {
          await worker.stop(graceMs)
          if (workers.get(lane) === worker) workers.delete(lane)
        },
      }
    },
    async stats(lane) {
      const [counted, counts] = await Promise.all([book.counts(lane), jobs.counts(lane)])
      return { ...counts, ...counted }
    },
    find: (lane, subject) => book.find(lane, subject),
    lanes: (prefix) => book.lanes(prefix),
    async remove(lane, subject) {
      workers.get(lane)?.removeHere(subject)
      unasked.delete(`${lane}\n${subject}`)
      await jobs.remove(lane, subject).catch((error: unknown) => {
        // The job stays, and its run finds nothing to do.
        log.debug('A job could not be removed from Redis.', { operation: 'queue.remove', error, metadata: { lane } })
      })
    },
    dropLane: (lane) => jobs.dropLane(lane),
    clear: (lane) => jobs.clear(lane),
    pause: (lane) => jobs.setPaused(lane, true),
    resume: (lane) => jobs.setPaused(lane, false),
    async releaseInstance(instance) {
      for (const lane of await book.lanes('')) await jobs.releaseInstance(lane, instance)
    },
    ping: () => redis.ping(),
    async close() {
      isClosed = true
      clearTimeout(askingAgain)
      redis.commands.off('ready', handOver)
      await Promise.all([...workers.values()].map((worker) => worker.stop(0)))
      await jobs.close()
      connection.disconnect()
    },
  }
}
