import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Ownership, RefreshOutcome, SyncTotals } from '../../accounts/index.ts'
import type { AttemptResult } from '../../events/webhooks/index.ts'
import type { RunOutcome } from '../../mail/sync/index.ts'
import { withTimeout } from '../../platform/concurrency/abort.ts'
import { cached } from '../../platform/concurrency/cached.ts'
import type { EventLoopMonitor } from '../../platform/concurrency/event-loop-delay.ts'
import type { ResponseFacts } from '../../platform/http/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { AccountStates } from './account-states.ts'
import type { Figures } from './figures.ts'
import { processMetrics } from './process.ts'

/** Sources that are read at a scrape. */
export interface MetricSources {
  ownership: Pick<Ownership, 'onChange' | 'owned'>
  /** Totals of the accounts of this process. */
  syncTotals(): Pick<SyncTotals, 'waiting' | 'active' | 'delayed' | 'greatestLagMs'>
  figures(): Promise<Figures>
  eventLoop: Pick<EventLoopMonitor, 'read'>
  /** Log records that the OTLP exporter dropped. */
  droppedLogRecords(): number
}

/** Called where something happens. Each call costs some microseconds at most. */
export interface Metrics {
  onResponse(response: ResponseFacts): void
  onRun(accountId: string, provider: string, outcome: RunOutcome): void
  onRefresh(provider: string, outcome: RefreshOutcome): void
  onAttempts(attempts: readonly AttemptResult[]): void
  onDuplicates(deliveries: number): void
  onGmailUnits(units: number): void
  /** Adds what is read at a scrape. Call it once. */
  observe(sources: MetricSources): void
  /** The Prometheus text format. Several scrapes in one second get the same text. */
  text(): Promise<string>
  readonly contentType: string
  /** Every metric, for tests. */
  names(): string[]
}

const HTTP_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10]
const DELIVERY_SECONDS = [0.05, 0.25, 1, 5, 30]
const TEXT_MS = 1000
/** The figures of the whole service come from the database. */
const FIGURES_MS = 15_000
const FIGURES_TIMEOUT_MS = 5000

/** One registry per service: two services in one process share nothing. */
export function metrics({ clock, version }: { clock: Clock; version: string }): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `posthorn_${name}`, help, labelNames, registers })
  const responses = new Histogram({
    name: 'posthorn_http_request_duration_seconds',
    help: 'Duration of requests to the API.',
    registers,
    labelNames: ['method', 'route', 'status'] as const,
    buckets: HTTP_SECONDS,
  })
  const errors = counter('http_errors_total', 'Error responses by error code.', ['code'])
  const conflicts = counter('booking_conflicts_total', 'Bookings and holds refused because the slot was taken.')
  const runs = counter('sync_runs_total', 'Runs of accounts.', ['provider', 'outcome'])
  const refreshes = counter('token_refreshes_total', 'Refreshes of OAuth tokens.', ['provider', 'outcome'])
  const attempts = counter('webhook_attempts_total', 'Attempts to deliver an event.', ['outcome'])
  const durations = new Histogram({
    name: 'posthorn_webhook_attempt_duration_seconds',
    help: 'Duration of delivery attempts.',
    registers,
    buckets: DELIVERY_SECONDS,
  })
  const latencies = new Histogram({
    name: 'posthorn_webhook_latency_seconds',
    help: 'From an event to its first attempt.',
    registers,
    buckets: DELIVERY_SECONDS,
  })
  const duplicates = counter('webhook_deduplicated_total', 'Deliveries suppressed as duplicates.')
  const gmailUnits = counter('gmail_quota_units_total', 'Units of the quota of Gmail that requests cost.')
  const info = new Gauge({
    name: 'posthorn_info',
    help: 'Version of the service.',
    labelNames: ['version'],
    registers,
  })
  info.set({ version }, 1)
  processMetrics(registry)
  const states = new AccountStates()

  function observe(sources: MetricSources): void {
    states.follow(sources.ownership)
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name: `posthorn_${name}`,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    new Gauge({
      name: 'posthorn_accounts',
      help: 'Accounts of this instance by state.',
      registers,
      labelNames: ['provider', 'state'],
      collect() {
        this.reset()
        for (const { provider, state, count } of states.counts()) this.set({ provider, state }, count)
      },
    })
    gauge('accounts_owned', 'Accounts of this instance.', () => sources.ownership.owned().size)
    new Gauge({
      name: 'posthorn_sync_queue_accounts',
      help: 'Accounts of this instance by what sync does with them.',
      registers,
      labelNames: ['state'],
      collect() {
        const { waiting, active, delayed } = sources.syncTotals()
        for (const [state, count] of Object.entries({ waiting, active, delayed })) this.set({ state }, count)
      },
    })
    gauge(
      'sync_lag_seconds',
      'How long the most overdue account is overdue.',
      () => sources.syncTotals().greatestLagMs / 1000,
    )
    new Counter({
      name: 'posthorn_log_export_dropped_records_total',
      help: 'Log records that were not exported.',
      registers,
      collect() {
        this.reset()
        this.inc(sources.droppedLogRecords())
      },
    })
    new Gauge({
      name: 'posthorn_event_loop_delay_seconds',
      help: 'Delay of the event loop in the last minute.',
      registers,
      labelNames: ['statistic'],
      collect() {
        const { meanMs, p99Ms, maxMs } = sources.eventLoop.read()
        for (const [statistic, ms] of Object.entries({ mean: meanMs, p99: p99Ms, max: maxMs }))
          this.set({ statistic }, ms / 1000)
      },
    })
    observeFigures(sources.figures)
  }

  function observeFigures(read: () => Promise<Figures>): void {
    const timedOut = () => new Error('the database does not respond')
    const figures = cached(clock, FIGURES_MS, () =>
      withTimeout(read(), FIGURES_TIMEOUT_MS, timedOut).catch(() => undefined),
    )
    /** Without a value while the database fails. */
    const gauge = (name: string, help: string, value: (figures: Figures) => number) =>
      new Gauge({
        name: `posthorn_${name}`,
        help,
        registers,
        async collect() {
          const now = await figures()
          if (now === undefined) this.remove()
          else this.set(value(now))
        },
      })
    const perQueue = (name: string, help: string, values: (figures: Figures) => Record<string, number | null>) =>
      new Gauge({
        name: `posthorn_${name}`,
        help,
        labelNames: ['queue'],
        registers,
        async collect() {
          this.reset()
          const now = await figures()
          if (now === undefined) return
          for (const [queue, value] of Object.entries(values(now))) this.set({ queue }, value ?? 0)
        },
      })
    new Gauge({
      name: 'posthorn_database_up',
      help: '1 while the database responds.',
      registers,
      async collect() {
        this.set((await figures()) === undefined ? 0 : 1)
      },
    })
    gauge('sync_stalled_accounts', 'Accounts whose sync stalled, of all instances.', (now) => now.stalledAccounts)
    gauge('sync_unowned_accounts', 'Accounts that no running instance owns.', (now) => now.unownedAccounts)
    gauge('instances', 'Running instances.', ({ instances }) => instances)
    gauge('outbox_uncertain_messages', 'Messages whose sending has an unknown outcome.', (now) => now.uncertainMessages)
    perQueue('queue_depth', 'What waits, counted up to 10,000 per queue.', ({ waiting }) => waiting)
    perQueue('queue_age_seconds', 'How long the oldest of what waits has waited.', ({ ageMs }) => {
      const { deliveries, outbox, events } = ageMs
      return { deliveries: seconds(deliveries), outbox: seconds(outbox), events: seconds(events) }
    })
  }

  return {
    onResponse({ method, route, status, durationMs, errorCode }) {
      responses.observe({ method, route, status: `${Math.floor(status / 100)}xx` }, durationMs / 1000)
      if (errorCode === undefined) return
      errors.inc({ code: errorCode })
      if (errorCode === 'slot_unavailable') conflicts.inc()
    },
    onRun(accountId, provider, outcome) {
      states.set(accountId, provider, outcome)
      if (outcome !== 'paused') runs.inc({ provider, outcome })
    },
    onRefresh: (provider, outcome) => refreshes.inc({ provider, outcome }),
    onAttempts(results) {
      const counts = { success: 0, failed: 0, retrying: 0 }
      for (const { delivery, outcome } of results) {
        const isLast = delivery.attempt + 1 >= delivery.maxAttempts
        counts[outcome.error === null ? 'success' : isLast ? 'failed' : 'retrying'] += 1
        durations.observe(outcome.durationMs / 1000)
        const isFirst = delivery.attempt === 0 && delivery.trigger === 'event'
        if (isFirst) latencies.observe(Math.max(0, outcome.startedAt - delivery.createdAt) / 1000)
      }
      for (const [outcome, count] of Object.entries(counts)) if (count > 0) attempts.inc({ outcome }, count)
    },
    onDuplicates: (deliveries) => duplicates.inc(deliveries),
    onGmailUnits: (units) => gmailUnits.inc(units),
    observe,
    text: cached(clock, TEXT_MS, () => registry.metrics()),
    contentType: registry.contentType,
    names: () => registry.getMetricsAsArray().map(({ name }) => name),
  }
}

function seconds(ms: number | null): number {
  return (ms ?? 0) / 1000
}
