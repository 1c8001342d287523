import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Backoff } from '../../lib/retry.ts'
import type { Bus } from '../bus/index.ts'
import type { Db, Handle } from '../db/index.ts'
import type { Log } from '../log/index.ts'
import { earliest, whole } from './announcements.ts'
import { gather } from './gather.ts'
import { type Announcement, jobStore } from './job-store.ts'
import type { Lanes } from './queue.ts'
import { LaneWorker } from './worker.ts'

export interface DatabaseLanesDeps {
  db: Db
  bus: Bus
  clock: Clock
  ids: Ids
  log: Log
  /** Of this process; see `releaseInstance`. */
  instanceId: string
  /** The net under lost hints and silent workers. Default 5,000. */
  pollMs?: number
  /** Between failed runs of one subject. Default 1 s, doubled up to 5 minutes. */
  backoff?: Backoff
}

/** The queue on the job rows of the database. Times are the database's; hints go over the bus as `jobs:<lane>`. */
export function databaseLanes(deps: DatabaseLanesDeps): Lanes {
  const { db, bus, instanceId, pollMs = 5000, backoff = { baseMs: 1000, capMs: 300_000 } } = deps
  const workers = new Map<string, LaneWorker>()
  const store = (handle: Handle) => jobStore(handle, db.dialect)
  let sweep: NodeJS.Timeout | undefined

  const announce = gather<Announcement>(async (jobs) => {
    // A statement may not touch a row twice.
    const changed = await db.transaction((tx) => store(tx).add(earliest(jobs)))
    const lanes = new Set(jobs.filter((job) => job.delayMs === 0).map((job) => job.lane))
    for (const lane of new Set([...changed, ...lanes])) wake(lane, changed.includes(lane))
  })

  /** Others hear of it only when this process has no free worker: whoever is free first takes it. */
  function wake(lane: string, isNews: boolean): void {
    const worker = workers.get(lane)
    if (isNews && worker?.hasRoom !== true) tellOthers(lane)
    worker?.wake()
  }

  const tellOthers = (lane: string) => bus.publish(topic(lane), instanceId)

  async function freeSilent(): Promise<void> {
    try {
      if (!(await store(db.read).hasExpired())) return
      for (const lane of await db.transaction((tx) => store(tx).expire())) wake(lane, true)
    } catch (error) {
      deps.log.warn('Jobs of silent workers could not be looked for.', { operation: 'queue.sweep', error })
    }
  }

  return {
    provider: 'database',
    add: (lane, subject, { delayMs = 0 } = {}) => announce({ lane, subject, delayMs: whole(delayMs) }),
    async addIn(tx, lane, subjects, { delayMs = 0 } = {}) {
      if (subjects.length === 0) return
      const jobs = [...new Set(subjects)].map((subject) => ({ lane, subject, delayMs: whole(delayMs) }))
      const changed = await store(tx).add(jobs)
      tx.afterCommit(() => wake(lane, changed.length > 0))
    },
    work(lane, options, run) {
      if (workers.has(lane)) throw new Error(`this process already works on the lane "${lane}"`)
      const worker = new LaneWorker({ ...deps, pollMs, backoff, onFull: () => tellOthers(lane) }, lane, options, run)
      workers.set(lane, worker)
      sweep ??= setInterval(() => void freeSilent(), pollMs)
      const unsubscribe = bus.subscribe(topic(lane), (from) => {
        if (from !== instanceId) worker.wake()
      })
      return {
        async stop(graceMs) {
          unsubscribe()
          await worker.stop(graceMs)
          if (workers.get(lane) === worker) workers.delete(lane)
        },
      }
    },
    stats: (lane) => store(db.read).stats(lane),
    find: (lane, subject) => store(db.read).find(lane, subject),
    lanes: (prefix) => store(db.read).lanes(prefix),
    remove: (lane, subject) => db.transaction((tx) => store(tx).remove(lane, subject)),
    dropLane: (lane) => db.transaction((tx) => store(tx).dropLane(lane)),
    async clear(lane) {
      const cleared = await db.transaction((tx) => store(tx).clear(lane))
      if (cleared > 0) wake(lane, true)
      return cleared
    },
    pause: (lane) => db.transaction((tx) => store(tx).setPaused(lane, true)),
    async resume(lane) {
      await db.transaction((tx) => store(tx).setPaused(lane, false))
      wake(lane, true)
    },
    async releaseInstance(instance) {
      const lanes = await db.transaction((tx) => store(tx).releaseInstance(instance))
      for (const lane of lanes) wake(lane, true)
    },
    ping: () => db.ping(),
    async close() {
      clearInterval(sweep)
      for (const worker of workers.values()) void worker.stop(0)
    },
  }
}

const topic = (lane: string) => `jobs:${lane}`
