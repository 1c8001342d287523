import type { Bus } from '../../platform/bus/index.ts'
import type { Cache } from '../../platform/cache/index.ts'
import { zoneDatabase } from '../../platform/calendar/zone-data/database.ts'
import { cached } from '../../platform/concurrency/cached.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Queue } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { Detailed, Reason, Summary } from './api.ts'
import { describeProblem, memory, type ProbeResult, probe, toFailure } from './probe.ts'
import { type Measured, measuredWarnings, REMEDIES, type Warning } from './remedies.ts'

/** The phase of the service. It accepts requests only while it is ready. */
export type Phase = 'starting' | 'migrating' | 'ready' | 'draining'

export interface ProviderState {
  name: string
  /** True when the settings of the provider are complete. */
  canConnect: boolean
  /** Advice for the operator while it is false. */
  remedy?: string
  /** The redirect URI that operators register at an OAuth provider. */
  redirectUri?: string
}

/** An invalid setting that does not prevent the start. The message contains no secret. */
interface SettingsProblem {
  reason: Extract<Reason, 'settings_invalid' | 'oauth_incomplete' | 'redirect_refused'>
  message: string
}

export interface HealthDeps {
  clock: Clock
  instanceId: string
  version: string
  phase(): Phase
  db: Pick<Db, 'engine' | 'ping'>
  /** The error of the last heartbeat write, because a full disk still serves reads. Undefined while writes succeed. */
  writeFailure(): unknown
  cache: Pick<Cache, 'provider' | 'ping'>
  queue: Pick<Queue, 'provider' | 'ping'>
  bus: Pick<Bus, 'provider' | 'ping'>
  licence: {
    readonly plan: string
    readonly accountLimit: number | null
    allowsAnother(currentAccounts: number): boolean
    problem(): string | undefined
  }
  countAccounts(): Promise<number>
  providers(): readonly ProviderState[]
  settingsProblems(): readonly SettingsProblem[]
  /** True when the database holds the encryption keys together with the data that they protect. */
  keysBesideData: boolean
  /** Cloud Pub/Sub for gmail. Without it, or while it is not ready, mailboxes are polled. */
  gmailPush?(): { configured: boolean; ready: boolean; problem?: string }
  /** The error of the last update of the search index. Undefined while it works. */
  searchFailure?(): unknown
  /** Figures of the whole service. */
  figures(): Promise<HealthFigures>
  eventLoop(): Detailed['eventLoop']
  logExport(): Detailed['logExport']
}

/** Ages are null when nothing waits. */
interface HealthFigures {
  instances: number
  stalledAccounts: number
  unownedAccounts: number
  greatestLagMs: number
  waiting: { deliveries: number; outbox: number; events: number }
  ageMs: { deliveries: number | null; outbox: number | null; events: number | null }
  uncertainMessages: number
}

export interface Health {
  summary(): Promise<Summary>
  detailed(): Promise<Detailed>
  /** The reason to send requests elsewhere; undefined when the service accepts them. */
  notReady(): Promise<string | undefined>
}

interface Checked {
  /** Can be true while writes fail. */
  isDatabaseReadable: boolean
  parts: Record<keyof Summary['services'], ProbeResult>
  currentAccounts: number | null
  figures: HealthFigures | null
}

/** Lifetime of one result. */
const FRESH_MS = 1000

export function health(deps: HealthDeps): Health {
  const { clock, licence } = deps
  const startedAt = clock.now()
  const startedMs = clock.monotonic()
  const uptimeMs = () => clock.monotonic() - startedMs
  const check = cached(clock, FRESH_MS, checkParts)

  async function checkParts(): Promise<Checked> {
    let currentAccounts: number | null = null
    let figures: HealthFigures | null = null
    const [reads, cache, queue, pubsub] = await Promise.all([
      probe(clock, () => deps.db.ping()),
      probe(clock, () => deps.cache.ping()),
      probe(clock, () => deps.queue.ping()),
      probe(clock, () => deps.bus.ping()),
      probe(clock, async () => {
        currentAccounts = await deps.countAccounts()
      }),
      probe(clock, async () => {
        figures = await deps.figures()
      }),
    ])
    const writeFailure = deps.writeFailure()
    const database =
      reads.healthy && writeFailure !== undefined ? { ...reads, healthy: false, ...toFailure(writeFailure) } : reads
    return { parts: { database, cache, queue, pubsub }, isDatabaseReadable: reads.healthy, currentAccounts, figures }
  }

  function gmailPush(): Summary['gmailPush'] {
    const { configured, ready } = deps.gmailPush?.() ?? { configured: false, ready: false }
    return { configured, ready, mode: configured && ready ? 'push' : 'polling' }
  }

  function reasons({ currentAccounts }: Checked): Reason[] {
    const found: Reason[] = []
    if (!deps.providers().some((provider) => provider.canConnect)) found.push('no_provider')
    if (currentAccounts === null) found.push('database_unavailable')
    else if (!licence.allowsAnother(currentAccounts)) found.push('licence_full')
    return [...found, ...new Set(deps.settingsProblems().map((problem) => problem.reason))]
  }

  function warnings(measured: Measured): Warning[] {
    const licenceProblem = licence.problem()
    const { problem: pushProblem, remedy: pushRemedy = '' } = gmailPushState()
    return [
      ...(deps.keysBesideData ? [KEYS_BESIDE_DATA] : []),
      ...(licenceProblem === undefined ? [] : [{ code: 'licence', message: licenceProblem, remedy: REMEDIES.licence }]),
      ...(pushProblem === undefined ? [] : [{ code: 'gmail_push', message: pushProblem, remedy: pushRemedy }]),
      ...deps.settingsProblems().map(({ reason, message }) => ({ code: reason, message, remedy: REMEDIES.settings })),
      ...measuredWarnings(measured, uptimeMs()),
    ]
  }

  function toMeasured({ figures }: Checked): Measured {
    const of = (queue: 'deliveries' | 'outbox' | 'events') =>
      figures && { waiting: figures.waiting[queue], oldestAgeMs: figures.ageMs[queue] }
    const outbox = of('outbox')
    return {
      sync: figures && {
        stalledAccounts: figures.stalledAccounts,
        unownedAccounts: figures.unownedAccounts,
        greatestLagMs: figures.greatestLagMs,
      },
      outbox: figures && outbox && { ...outbox, uncertain: figures.uncertainMessages },
      deliveries: of('deliveries'),
      events: of('events'),
      eventLoop: deps.eventLoop(),
      logExport: deps.logExport(),
      memory: memory(),
    }
  }

  function gmailPushState(): Detailed['gmailPush'] {
    const problem = deps.gmailPush?.().problem
    return { ...gmailPush(), ...(problem !== undefined && { problem, remedy: REMEDIES.gmailPush }) }
  }

  function searchState(): Detailed['search'] {
    const failure = deps.searchFailure?.()
    return failure === undefined
      ? { healthy: true }
      : { healthy: false, problem: describeProblem(failure), remedy: REMEDIES.search }
  }

  /** The result with a remedy while it fails. */
  function withRemedy(result: ProbeResult, remedy: string): ProbeResult & { remedy?: string } {
    return result.healthy ? result : { remedy, ...result }
  }

  function common(checked: Checked) {
    const { parts, currentAccounts } = checked
    const push = gmailPush()
    const services = {
      database: parts.database.healthy,
      cache: parts.cache.healthy,
      queue: parts.queue.healthy,
      pubsub: parts.pubsub.healthy,
    }
    const found = reasons(checked)
    const isHealthy = Object.values(services).every(Boolean) && (!push.configured || push.ready)
    return {
      status: isHealthy ? ('healthy' as const) : ('degraded' as const),
      services,
      gmailPush: push,
      onboarding: { canProceed: found.length === 0, reasons: found },
      license: { plan: licence.plan, effectiveAccountLimit: licence.accountLimit, currentAccounts },
    }
  }

  return {
    async summary() {
      const checked = await check()
      return {
        ...common(checked),
        cache: { provider: deps.cache.provider },
        queue: { provider: deps.queue.provider },
        pubsub: { provider: deps.bus.provider },
        memory: { percentage: memory().percentage },
        warnings: [...new Set(warnings(toMeasured(checked)).map((warning) => warning.code))],
      }
    },
    async detailed() {
      const checked = await check()
      const { database, cache, queue, pubsub } = checked.parts
      const measured = toMeasured(checked)
      const { engine } = deps.db
      return {
        ...common(checked),
        gmailPush: gmailPushState(),
        search: searchState(),
        timeZones: timeZones(),
        instances: checked.figures?.instances ?? null,
        ...measured,
        version: deps.version,
        instance: deps.instanceId,
        phase: deps.phase(),
        startedAt: isoTime(startedAt),
        uptimeSeconds: Math.round(uptimeMs() / 1000),
        database: { ...withRemedy(database, REMEDIES.database[engine]), engine },
        cache: { ...withRemedy(cache, chooseRemedy(deps.cache.provider, engine)), provider: deps.cache.provider },
        queue: { ...withRemedy(queue, chooseRemedy(deps.queue.provider, engine)), provider: deps.queue.provider },
        rateLimiter: { ...withRemedy(cache, chooseRemedy(deps.cache.provider, engine)), provider: deps.cache.provider },
        pubsub: { ...withRemedy(pubsub, chooseRemedy(deps.bus.provider, engine)), provider: deps.bus.provider },
        providers: [...deps.providers()],
        warnings: warnings(measured),
      }
    },
    async notReady() {
      const phase = deps.phase()
      if (phase !== 'ready') return `The service is ${phase}.`
      return (await check()).isDatabaseReadable ? undefined : 'The database does not respond.'
    },
  }
}

function timeZones(): Detailed['timeZones'] {
  const { source, version, released } = zoneDatabase()
  return { source, version, released }
}

function chooseRemedy(provider: 'memory' | 'database' | 'postgres' | 'redis', engine: Db['engine']): string {
  if (provider === 'redis') return REMEDIES.redis
  return provider === 'memory' ? REMEDIES.memory : REMEDIES.database[engine]
}

const KEYS_BESIDE_DATA = {
  code: 'keys_beside_data',
  message: 'The database holds the encryption keys together with the data that they protect.',
  remedy: 'Set ENCRYPTION_KEYS.',
}
