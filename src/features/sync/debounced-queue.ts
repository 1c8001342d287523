import type { Bus } from '../../infra/bus/index.ts'
import type { JobState, LaneStats, Lanes as Queue } from '../../infra/lanes/index.ts'
import { SYNC_LANES } from './deps.ts'
import { RETRY_TOPIC } from './engine.ts'

/** The queue of accounts to be synchronised, as the lanes of all instances together. */
export interface DebouncedQueue {
  status(): Promise<LaneStats>
  /** What never had a job is idle. */
  account(accountId: string): Promise<JobState>
  /** Every account that waits for a later time or after failures runs now. Answers how many did. */
  clear(): Promise<number>
}

const IDLE: JobState = { state: 'idle', attempts: 0, lastRunAt: null, nextRunAt: null, lastError: null }
const BUSIEST: JobState['state'][] = ['active', 'waiting', 'idle']

export function debouncedQueue({ queue, bus }: { queue: Queue; bus: Bus }): DebouncedQueue {
  const inLanes = async <T>(ask: (lane: string) => Promise<T>) =>
    Promise.all((await queue.lanes(SYNC_LANES)).map((lane) => ask(lane)))
  return {
    async status() {
      const lanes = await inLanes((lane) => queue.stats(lane))
      const sum = (of: keyof Omit<LaneStats, 'paused'>) => lanes.reduce((total, stats) => total + stats[of], 0)
      return {
        waiting: sum('waiting'),
        active: sum('active'),
        delayed: sum('delayed'),
        completed: sum('completed'),
        failed: sum('failed'),
        paused: lanes.some((stats) => stats.paused),
        subjects: sum('subjects'),
      }
    },
    async account(accountId) {
      const states = await inLanes((lane) => queue.find(lane, accountId))
      // While it changes hands it may stand in two lanes; the busier one tells how it is.
      return states.reduce<JobState>((chosen, state) => (isBusier(state, chosen) ? state : chosen), IDLE)
    },
    async clear() {
      const cleared = await inLanes((lane) => queue.clear(lane))
      bus.publish(RETRY_TOPIC, '')
      return cleared.reduce((total, count) => total + count, 0)
    },
  }
}

function isBusier(state: JobState | undefined, than: JobState): state is JobState {
  if (state === undefined) return false
  const difference = BUSIEST.indexOf(than.state) - BUSIEST.indexOf(state.state)
  return difference > 0 || (difference === 0 && (state.lastRunAt ?? 0) >= (than.lastRunAt ?? 0))
}
