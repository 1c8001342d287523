import { LRUCache } from 'lru-cache'
import type { Db } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import { sleep } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Backoff, backoffMs } from '../../lib/retry.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { type Pubsub, type PubsubMessage, type PubsubSettings, pubsub } from '../../providers/pubsub/index.ts'
import { type Accounts, accountsAt } from '../accounts/index.ts'
import { type GmailNotice, noticeOf } from './notice.ts'

export interface GmailPullerDeps {
  db: Db
  clock: Clock
  log: Log
  settings: Partial<PubsubSettings> & {
    url: string
    maxMessages: number
    ackDeadlineSeconds: number
    maxRetries: number
  }
  accounts: Pick<Accounts, 'requestSync'>
  timing?: Partial<PullerTiming>
}

export interface PullerTiming {
  /** After a failure, of the settings too: what is wrong may be put right at Google. */
  again: Backoff
  /** Between tries to hand over one batch of notices. */
  handOver: Backoff
}

export interface PullerState {
  configured: boolean
  ready: boolean
  /** What people should know. */
  problem?: string
}

export interface GmailPuller {
  readonly state: PullerState
  /** While it is ready. */
  readonly topicName: string | undefined
  /** Calls the listener whenever `topicName` changes. */
  onChange(listener: () => void): void
  start(): void
  /** What was pulled and not handed over comes again, to whoever pulls next. Twice safely. */
  stop(): Promise<void>
}

const TIMING: PullerTiming = {
  again: { baseMs: 1000, capMs: 300_000 },
  handOver: { baseMs: 250, capMs: 5000 },
}
/** Failures in a row after which it counts as broken, when each might be over the next moment. */
const PATIENCE = 3
/** A pull that finds nothing is held by Google for longer; where it is not, it is not asked again and again without a pause. */
const EMPTY_MS = 1000
/** Addresses whose last notice is remembered. */
const REMEMBERED = 50_000
/** A repeat comes within minutes. Nothing is believed for longer: the history of a mailbox that was made anew begins anew. */
const REPEATS_MS = 10 * 60_000

/**
 * Pulls the notices of Gmail, one batch at a time, so that no more than `maxMessages` are in the air:
 *
 *   pull ──► accounts with these addresses ──► syncs requested, committed ──► acknowledge
 *
 * After a crash in between, Pub/Sub delivers them again, and the accounts are synced once more.
 */
export function gmailPuller(deps: GmailPullerDeps): GmailPuller {
  const { db, clock, log, settings } = deps
  const { again, handOver } = { ...TIMING, ...deps.timing }
  const missing = missingOf(settings)
  const configured = missing.length < 3
  const about = { operation: 'push.pull', provider: 'gmail' } as const
  const stopping = new AbortController()
  /** By address, how far its last notice said: a notice that says no more is a repeat. */
  const handedOver = new LRUCache<string, bigint>({
    ...{ max: REMEMBERED, ttl: REPEATS_MS, ttlResolution: 0 },
    perf: { now: () => clock.monotonic() },
  })
  const listeners: (() => void)[] = []
  let topicName: string | undefined
  let problem: string | undefined
  let running: Promise<void> | undefined

  function become(ready: string | undefined, why: string | undefined): void {
    if (why !== undefined && why !== problem) {
      log.warn(`Gmail is polled, because its notices cannot be pulled: ${why}.`, about)
    }
    if (ready !== undefined && topicName === undefined) log.info('The notices of Gmail are pulled.', about)
    const hasChanged = ready !== topicName
    topicName = ready
    problem = why
    if (hasChanged) for (const listener of listeners) listener()
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    // After a pull that failed only a pull that works shows that it is over; the two names may be fine and the right to pull missing.
    let isCheckEnough = true
    while (!signal.aborted) {
      let client: Pubsub | undefined
      try {
        client = await pubsub(complete(settings), clock)
        const { topicName: checked } = client
        await client.check(signal)
        if (isCheckEnough) become(checked, undefined)
        isCheckEnough = false
        await pullOn(client, signal, () => {
          isCheckEnough = true
          failures = 0
          become(checked, undefined)
        })
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof ProviderError)) log.error('Pulling notices failed.', { ...about, error })
        failures += 1
        become(undefined, error instanceof ProviderError ? error.message : 'an unexpected failure, told in the log')
        await sleep(Math.max(retryAfterOf(error), backoffMs(failures, again)), signal)
      } finally {
        await client?.close()
      }
    }
  }

  /** Until something is wrong that lasts. */
  async function pullOn(client: Pubsub, signal: AbortSignal, onPulled: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const askedAt = clock.monotonic()
      try {
        const received = await client.pull(settings.maxMessages, signal)
        if (received.length > 0) await take(client, received, signal)
        failures = 0
        onPulled()
        const earlyMs = askedAt + EMPTY_MS - clock.monotonic()
        if (received.length === 0 && earlyMs > 0) await sleep(earlyMs, signal)
      } catch (error) {
        const isPassing = error instanceof ProviderError && ['unavailable', 'rate_limited'].includes(error.kind)
        failures += 1
        if (signal.aborted || !isPassing || failures >= PATIENCE) throw error
        await sleep(Math.max(retryAfterOf(error), backoffMs(failures, again)), signal)
      }
    }
  }

  async function take(client: Pubsub, received: readonly PubsubMessage[], signal: AbortSignal): Promise<void> {
    const ackIds = received.map(({ ackId }) => ackId)
    const newest = new Map<string, bigint>()
    let unreadable = 0
    for (const message of received) {
      const notice = noticeOf(message)
      if (notice === undefined) unreadable += 1
      else if (isNews(notice, newest)) newest.set(notice.address, notice.historyId)
    }
    if (unreadable > 0)
      log.warn('Notices that are not of Gmail were put aside.', { ...about, metadata: { unreadable } })
    const isDone = await handedOverAll(client, ackIds, newest, signal)
    if (signal.aborted) return
    if (isDone) for (const [address, historyId] of newest) handedOver.set(address, historyId)
    await client.acknowledge(ackIds)
  }

  function isNews({ address, historyId }: GmailNotice, newest: ReadonlyMap<string, bigint>): boolean {
    const told = newest.get(address) ?? handedOver.get(address)
    return told === undefined || historyId > told
  }

  /** False after the last try: the accounts are then found by the poll that remains below push. */
  async function handedOverAll(
    client: Pubsub,
    ackIds: readonly string[],
    newest: ReadonlyMap<string, bigint>,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (let tries = 1; newest.size > 0 && !signal.aborted; tries += 1) {
      try {
        const accountIds = await accountsAt(db.read, 'gmail', [...newest.keys()])
        await db.transaction((tx) => deps.accounts.requestSync(tx, accountIds, 'changes'))
        return true
      } catch (error) {
        if (tries > settings.maxRetries) {
          log.error('Notices of Gmail could not be handed over; the accounts are polled.', { ...about, error })
          return false
        }
        await client.extend(ackIds, settings.ackDeadlineSeconds)
        await sleep(backoffMs(tries, handOver), signal)
      }
    }
    return true
  }

  return {
    get state() {
      if (!configured) return { configured, ready: false }
      return { configured, ready: topicName !== undefined, ...(problem !== undefined && { problem }) }
    },
    get topicName() {
      return topicName
    },
    onChange: (listener) => void listeners.push(listener),
    start() {
      if (!configured || running !== undefined) return
      if (missing.length > 0) become(undefined, `${missing.join(' and ')} not set`)
      else running = run(stopping.signal)
    },
    async stop() {
      stopping.abort(new Error('the service stops'))
      await running
    },
  }
}

function missingOf({ topicName, subscriptionName, credentials }: GmailPullerDeps['settings']): string[] {
  const all = {
    PUBSUB_TOPIC_NAME: topicName,
    PUBSUB_SUBSCRIPTION_NAME: subscriptionName,
    APPLICATION_CREDENTIALS: credentials,
  }
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? name : []))
}

/** Called when nothing is missing. */
function complete({ url, topicName = '', subscriptionName = '', credentials = '' }: GmailPullerDeps['settings']) {
  return { url, topicName, subscriptionName, credentials }
}

function retryAfterOf(error: unknown): number {
  return error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0
}
