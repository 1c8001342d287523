import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderError, ProviderName, UnreadableEvent } from '../../providers/contract/index.ts'
import type { CalendarRow } from '../store.ts'
import type { EventCounts } from './step/apply.ts'

/** Unreadable events of one transaction that are logged one by one. */
const MAX_REPORTED = 5

/** The log entries of one run of one account: what changed, and what failed. */
export class RunLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #accountId: string
  readonly #startedAt: number
  readonly #changed = { added: 0, updated: 0, deleted: 0 }
  /** Undefined until the account was read. */
  provider: ProviderName | undefined

  /** `startedAt` is monotonic. */
  constructor({ log, clock }: { log: Log; clock: Clock }, accountId: string, startedAt: number) {
    this.#log = log
    this.#clock = clock
    this.#accountId = accountId
    this.#startedAt = startedAt
  }

  add({ added, updated, deleted }: EventCounts): void {
    this.#changed.added += added
    this.#changed.updated += updated
    this.#changed.deleted += deleted
  }

  /** A run that found no change writes nothing. */
  succeeded(): void {
    const { added, updated, deleted } = this.#changed
    if (added + updated + deleted === 0) return
    this.#log.info(`Synced calendars: ${added} events added, ${updated} updated, ${deleted} deleted.`, {
      ...this.#about,
      metadata: this.#changed,
    })
  }

  failed(error: ProviderError, { attempts, nextRunInMs }: { attempts: number; nextRunInMs: number }): void {
    const level = attempts === 1 ? 'warn' : 'info'
    this.#log[level](
      `Cannot sync the calendars of the account (${error.message}); trying again in ${Math.ceil(nextRunInMs / 1000)} s.`,
      {
        ...this.#about,
        error,
        metadata: { attempts, nextRunInMs, kind: error.kind, ...this.#changed },
      },
    )
  }

  calendarFailed(
    { id, summary }: CalendarRow,
    error: ProviderError,
    { failures, pauseMs }: { failures: number; pauseMs: number },
  ): void {
    // The log keeps its newest records only, so a calendar that fails still is among its warnings again, ever less often.
    const level = Number.isInteger(Math.log2(failures)) ? 'warn' : 'info'
    this.#log[level](
      `Cannot sync the calendar "${summary}" (${error.message}); trying again in ${Math.ceil(pauseMs / 1000)} s.`,
      {
        ...this.#about,
        error,
        metadata: { calendarId: id, attempts: failures, pauseMs, kind: error.kind },
      },
    )
  }

  unreadable({ id, summary }: CalendarRow, events: readonly UnreadableEvent[]): void {
    for (const { eventId, reason } of events.slice(0, MAX_REPORTED)) {
      this.#log.warn(`An event of the calendar "${summary}" cannot be read as it is: ${reason}`, {
        ...this.#about,
        metadata: { calendarId: id, eventId },
      })
    }
    if (events.length <= MAX_REPORTED) return
    const more = events.length - MAX_REPORTED
    this.#log.warn(`${more} more events of the calendar "${summary}" cannot be read as they are.`, {
      ...this.#about,
      metadata: { calendarId: id },
    })
  }

  get #about() {
    return {
      accountId: this.#accountId,
      provider: this.provider,
      operation: 'sync.calendars',
      durationMs: this.#clock.monotonic() - this.#startedAt,
    }
  }
}
