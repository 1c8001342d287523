import { purgeAuthSessions } from '../accounts/auth/index.ts'
import { purgeBookings, purgeCodes, purgeGuestCounters, purgeHolds, purgeKnownGuests } from '../booking/index.ts'
import type { Config } from '../config/index.ts'
import { purgeDeduplicationClaims } from '../events/deduplication/index.ts'
import { purgeEvents } from '../events/index.ts'
import { purgeDeliveries } from '../events/webhooks/index.ts'
import { purgeBounces } from '../mail/bounces/index.ts'
import { purgeDraftRequests } from '../mail/drafts/index.ts'
import { purgeReserved } from '../mail/messages/index.ts'
import { purgeOutbox } from '../mail/outbox/index.ts'
import { purgeTracking } from '../mail/tracking/index.ts'
import { purgeAuditEntries } from '../operations/audit/index.ts'
import { purgeIdempotencyKeys } from '../operations/idempotency/index.ts'
import { purgeAdminSessions, SESSION_MS } from '../operations/portal-api/index.ts'
import { sleep } from '../platform/concurrency/abort.ts'
import type { Db, Tx } from '../platform/db/index.ts'
import type { Log } from '../platform/log/index.ts'
import type { Queue, Worker } from '../platform/queue/index.ts'
import type { Clock } from '../platform/time/clock.ts'

export interface RetentionDeps {
  db: Db
  queue: Queue
  clock: Clock
  log: Log
  retention: Pick<Config, Extract<keyof Config, `retention${string}`>>
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
/** A late fan-out still needs the claims made at the time of its events. */
const CLAIMS_KEPT_MS = 60 * 60 * 1000
/** A sent message appears in the mailbox within minutes; a paused account may be away for long. */
const RESERVATIONS_KEPT_MS = 90 * DAY_MS
const OUTBOX_KEPT_MS = 30 * DAY_MS
/** A client that let a hold end gets no other one for its time meanwhile. */
const HOLDS_KEPT_MS = 60 * 60 * 1000
/** After their start. */
const BOOKINGS_KEPT_MS = 365 * DAY_MS
const GRACE_MS = 5000

/** Deletes up to `limit` rows older than `beforeMs` and returns how many; 0 when none is left. */
type Purge = (tx: Tx, beforeMs: number, limit: number) => Promise<number>

export function retentionJob({ db, queue, clock, log, retention }: RetentionDeps): Retention {
  const plan: readonly [what: string, purge: Purge, keptMs: number][] = [
    ['deliveries', purgeDeliveries, retention.retentionDeliveriesDays * DAY_MS],
    ['events', purgeEvents, retention.retentionEventsDays * DAY_MS],
    ['sessions', purgeAuthSessions, retention.retentionSessionsDays * DAY_MS],
    ['portalSessions', purgeAdminSessions, SESSION_MS],
    ['auditEntries', purgeAuditEntries, retention.retentionAuditDays * DAY_MS],
    ['idempotencyKeys', purgeIdempotencyKeys, 0],
    ['deduplicationClaims', purgeDeduplicationClaims, CLAIMS_KEPT_MS],
    ['outbox', purgeOutbox, OUTBOX_KEPT_MS],
    ['tracking', purgeTracking, retention.retentionTrackingDays * DAY_MS],
    ['bounces', purgeBounces, retention.retentionTrackingDays * DAY_MS],
    ['reservations', purgeReserved, RESERVATIONS_KEPT_MS],
    ['draftRequests', purgeDraftRequests, 2 * DAY_MS],
    ['holds', purgeHolds, HOLDS_KEPT_MS],
    ['bookingCodes', purgeCodes, 0],
    ['guestCounters', purgeGuestCounters, 0],
    ['knownGuests', purgeKnownGuests, BOOKINGS_KEPT_MS],
    ['bookings', purgeBookings, BOOKINGS_KEPT_MS],
  ]
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
    for (const [what, purge, keptMs] of plan) {
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
