import type { Bus } from '../../infra/bus/index.ts'
import type { Cache } from '../../infra/cache/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Queue } from '../../infra/queue/index.ts'
import { cached } from '../../lib/cached.ts'
import type { Clock } from '../../lib/clock.ts'
import { isoTime } from '../../lib/time.ts'
import type { Detailed, Reason, Summary } from './api.ts'
import { memory, type ProbeResult, probe, problemOf } from './probe.ts'

/** The phase of the service. It accepts requests only while it is ready. */
export type Phase = 'starting' | 'migrating' | 'ready' | 'draining'

export interface ProviderState {
  name: string
  /** True when the settings of the provider are complete. */
  canConnect: boolean
  /** The redirect URI that operators register at an OAuth provider. */
  redirectUri?: string
}

/** An invalid setting that does not prevent the start. The message contains no secret. */
export interface SettingsProblem {
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
}

/** Lifetime of one result. */
const FRESH_MS = 1000

export function health(deps: HealthDeps): Health {
  const { clock, licence } = deps
  const startedAt = clock.now()
  const startedMs = clock.monotonic()
  const check = cached(clock, FRESH_MS, checkParts)

  async function checkParts(): Promise<Checked> {
    let currentAccounts: number | null = null
    const [reads, cache, queue, pubsub] = await Promise.all([
      probe(clock, () => deps.db.ping()),
      probe(clock, () => deps.cache.ping()),
      probe(clock, () => deps.queue.ping()),
      probe(clock, () => deps.bus.ping()),
      probe(clock, async () => {
        currentAccounts = await deps.countAccounts()
      }),
    ])
    const writeFailure = deps.writeFailure()
    const database =
      reads.healthy && writeFailure !== undefined
        ? { ...reads, healthy: false, problem: problemOf(writeFailure) }
        : reads
    return { parts: { database, cache, queue, pubsub }, isDatabaseReadable: reads.healthy, currentAccounts }
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

  function warnings(): { code: string; message: string }[] {
    const licenceProblem = licence.problem()
    const pushProblem = deps.gmailPush?.().problem
    return [
      ...(deps.keysBesideData ? [KEYS_BESIDE_DATA] : []),
      ...(licenceProblem === undefined ? [] : [{ code: 'licence', message: licenceProblem }]),
      ...(pushProblem === undefined ? [] : [{ code: 'gmail_push', message: pushProblem }]),
      ...deps.settingsProblems().map(({ reason, message }) => ({ code: reason, message })),
    ]
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
      return {
        ...common(await check()),
        cache: { provider: deps.cache.provider },
        queue: { provider: deps.queue.provider },
        pubsub: { provider: deps.bus.provider },
        memory: { percentage: memory().percentage },
        warnings: [...new Set(warnings().map((warning) => warning.code))],
      }
    },
    async detailed() {
      const checked = await check()
      const { database, cache, queue, pubsub } = checked.parts
      return {
        ...common(checked),
        version: deps.version,
        instance: deps.instanceId,
        phase: deps.phase(),
        startedAt: isoTime(startedAt),
        uptimeSeconds: Math.round((clock.monotonic() - startedMs) / 1000),
        database: { ...database, engine: deps.db.engine },
        cache: { ...cache, provider: deps.cache.provider },
        queue: { ...queue, provider: deps.queue.provider },
        rateLimiter: { ...cache, provider: deps.cache.provider },
        pubsub: { ...pubsub, provider: deps.bus.provider },
        providers: [...deps.providers()],
        memory: memory(),
        warnings: warnings(),
      }
    },
    async notReady() {
      const phase = deps.phase()
      if (phase !== 'ready') return `The service is ${phase}.`
      return (await check()).isDatabaseReadable ? undefined : 'The database does not respond.'
    },
  }
}

const KEYS_BESIDE_DATA = {
  code: 'keys_beside_data',
  message:
    'ENCRYPTION_KEYS is not set: the database holds the encryption keys together with the data that they protect. Set ENCRYPTION_KEYS.',
}
