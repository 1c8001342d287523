import type { EventRow } from '../../../events/index.ts'
import type { AttemptResult } from '../../../events/webhooks/index.ts'
import { withTimeout } from '../../../platform/concurrency/abort.ts'
import { DatabaseUnavailable, type Db } from '../../../platform/db/index.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { latencyName } from './latency.ts'
import { addCounts, type HourCount } from './store.ts'
import type { ActivityName } from './tables.ts'

export interface ActivityCounter {
  /** Counts events that were fanned out. Test events are none. */
  onEvents(events: readonly Pick<EventRow, 'type' | 'fanOut' | 'createdAt'>[]): void
  /** Counts deliveries that ended. Those of test events are none. */
  onResults(results: { recorded: readonly AttemptResult[]; failed: readonly AttemptResult[] }): void
  /** Stores what was counted. Does not reject. */
  flush(): Promise<void>
  /** Stores the rest. Twice safely. */
  stop(): Promise<void>
}

interface ActivityCounterDeps {
  db: Pick<Db, 'transaction'>
  clock: Clock
  log: Log
}

/** A process that is killed loses the counts of this time. */
const FLUSH_MS = 5000
const STOP_MS = 1000
export const HOUR_MS = 3_600_000

const COUNTED: Readonly<Record<string, ActivityName>> = {
  'message.received': 'received',
  'message.sent': 'sent',
  'booking.created': 'booked',
}

/**
 * Counts what happens in each hour. The counts are for the charts of the portal, so they are added every few seconds, beside the
 * transactions that receive and deliver messages and not in them: that would cost each of these a statement.
 */
export function activityCounter({ db, clock, log }: ActivityCounterDeps): ActivityCounter {
  let pending = new Map<string, HourCount>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let isStopped = false

  function add(atMs: number, name: ActivityName, amount = 1): void {
    const hour = Math.floor(atMs / HOUR_MS) * HOUR_MS
    const key = `${hour} ${name}`
    const count = pending.get(key)
    if (count === undefined) pending.set(key, { hour, name, amount })
    else count.amount += amount
    if (!isStopped) timer ??= setTimeout(() => void flush(), FLUSH_MS)
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return
    const counts = [...pending.values()]
    pending = new Map()
    try {
      await db.transaction((tx) => addCounts(tx, counts))
    } catch (error) {
      const level = error instanceof DatabaseUnavailable ? 'debug' : 'error'
      log[level]('Cannot store the counts of the overview; trying again.', { operation: 'portal.activity', error })
      for (const { hour, name, amount } of counts) add(hour, name, amount)
    }
  }

  return {
    onEvents(events) {
      for (const { type, fanOut, createdAt } of events) {
        const name = COUNTED[type]
        if (name !== undefined && fanOut === 1) add(createdAt, name)
      }
    },
    onResults({ recorded, failed }) {
      const nowMs = clock.now()
      for (const { delivery, outcome } of recorded) {
        if (outcome.error !== null || delivery.test === 1) continue
        add(nowMs, 'delivered')
        const deliveredAt = outcome.startedAt + outcome.durationMs
        // When an event is sent again, a person decides when it arrives.
        if (delivery.trigger === 'event') add(nowMs, latencyName(deliveredAt - delivery.createdAt))
      }
      for (const { delivery } of failed) if (delivery.test === 0) add(nowMs, 'failed')
    },
    flush,
    async stop() {
      isStopped = true
      // `flush` does not reject: only a database that does not respond in time, whose counts are lost.
      await withTimeout(flush(), STOP_MS, () => new Error('the counts were not stored in time')).catch(
        (error: unknown) => log.debug('Stopping without the last counts.', { operation: 'portal.activity', error }),
      )
    },
  }
}
