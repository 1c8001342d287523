import type { Bus } from '../../infra/bus/index.ts'
import type { Cache } from '../../infra/cache/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Queue } from '../../infra/queue/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { isoTime } from '../../lib/time.ts'
import type { Detailed, Reason, Summary } from './api.ts'
import { memory } from './memory.ts'
import { type Probed, probe, problemOf, remembered } from './probe.ts'

/** Where the service is in its life. Requests are welcome only while it is ready. */
export type Phase = 'starting' | 'migrating' | 'ready' | 'draining'

export interface ProviderState {
  name: string
  /** Its settings allow mailboxes to be connected. */
  canConnect: boolean
  /** Of an OAuth provider: what operators register there. */
  redirectUri?: string
}

/** A setting that is wrong but does not stop the start; the message names no value that is secret. */
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
  /** Why the last regular write failed: a full disk still answers reads. Undefined while writes succeed. */
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
  /** The key ring stands in the database, beside what it protects. */
  keysBesideData: boolean
  /** Cloud Pub/Sub for gmail; without it, or while it is not ready, mailboxes are polled. */
  gmailPush?(): { configured: boolean; ready: boolean; problem?: string }
}

export interface Health {
  summary(): Promise<Summary>
  detailed(): Promise<Detailed>
  /** Why requests should go elsewhere; undefined when they are welcome. */
  notReady(): Promise<string | undefined>
}

interface Checked {
  /** It may answer reads while it takes no writes. */
  isDatabaseAnswering: boolean
  parts: Record<keyof Summary['services'], Probed>
  currentAccounts: number | null
}

/** How long one look at the parts is good for. */
const FRESH_MS = 1000

export function health(deps: HealthDeps): Health {
  const { clock, licence } = deps
  const startedAt = clock.now()
  const startedMs = clock.monotonic()
  const check = remembered(clock, FRESH_MS, look)

  async function look(): Promise<Checked> {
    let currentAccounts: number | null = null
    const [answering, cache, queue, pubsub] = await Promise.all([
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
      answering.healthy && writeFailure !== undefined
        ? { ...answering, healthy: false, problem: problemOf(writeFailure) }
        : answering
    return { parts: { database, cache, queue, pubsub }, isDatabaseAnswering: answering.healthy, currentAccounts }
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
    const well = Object.values(services).every(Boolean) && (!push.configured || push.ready)
    return {
      status: well ? ('healthy' as const) : ('degraded' as const),
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
      return (await check()).isDatabaseAnswering ? undefined : 'The database does not answer.'
    },
  }
}

const KEYS_BESIDE_DATA = {
  code: 'keys_beside_data',
  message: 'ENCRYPTION_KEYS is not set: the encryption keys stand in the database, beside what they protect.',
}
