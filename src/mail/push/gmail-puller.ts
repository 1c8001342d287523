import { LRUCache } from 'lru-cache'
import * as Type from 'typebox'
import { type Accounts, accountQueries } from '../../accounts/index.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../platform/concurrency/retry.ts'
import type { Db } from '../../platform/db/index.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { schemaCheck } from '../../platform/formats/schema-check.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { type Pubsub, type PubsubMessage, type PubsubSettings, pubsub } from '../../providers/shared/pubsub/index.ts'

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
  /** After a failure, wrong settings included: they may be corrected at Google. */
  retry: Backoff
  /** Between attempts to commit the sync requests of a batch. */
  commit: Backoff
}

export interface PullerState {
  configured: boolean
  ready: boolean
  /** Why notifications are not pulled, for operators. */
  problem?: string
}

interface GmailPuller {
  readonly state: PullerState
  /** Undefined unless it is ready. */
  readonly topicName: string | undefined
  /** Calls the listener whenever `topicName` changes. */
  onChange(listener: () => void): void
  start(): void
  /** Pub/Sub delivers unacknowledged messages again to the next puller. Twice safely. */
  stop(): Promise<void>
}

const TIMING: PullerTiming = {
  retry: { baseMs: 1000, capMs: 300_000 },
  commit: { baseMs: 250, capMs: 5000 },
}
/** Consecutive temporary failures after which the puller is no longer ready. */
const MAX_FAILURES = 3
/** Google holds an empty pull for longer. A server that does not is asked at most once per interval. */
const EMPTY_PULL_MS = 1000
/** Number of addresses whose last notification is remembered. */
const MAX_ADDRESSES = 50_000
/** Duplicates arrive within minutes. Not longer: a recreated mailbox starts its history ids over. */
const DUPLICATES_MS = 10 * 60_000

/**
 * Pulls Gmail's notifications, one batch at a time, so that at most `maxMessages` are outstanding:
 *
 *   pull ──► find the accounts of the addresses ──► request their sync, commit ──► acknowledge
 *
 * After a crash in between, Pub/Sub delivers the messages again, and the accounts are synced once more.
 */
export function gmailPuller(deps: GmailPullerDeps): GmailPuller {
  const { db, clock, log, settings } = deps
  const { retry, commit } = { ...TIMING, ...deps.timing }
  const missing = findMissing(settings)
  const configured = missing.length < 3
  const about = { operation: 'push.pull', provider: 'gmail' } as const
  const stopping = new AbortController()
  /** The last history id requested per address: a notification that is not newer is a duplicate. */
  const requested = new LRUCache<string, bigint>({
    maxSize: MAX_ADDRESSES,
    sizeCalculation: () => 1,
    ttl: DUPLICATES_MS,
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  })
  const listeners: (() => void)[] = []
  let topicName: string | undefined
  let problem: string | undefined
  let running: Promise<void> | undefined

  function setState(ready: string | undefined, why: string | undefined): void {
    if (why !== undefined && why !== problem) {
      log.warn(`Gmail accounts are polled, because notifications cannot be pulled: ${why}.`, about)
    }
    if (ready !== undefined && topicName === undefined) log.info('Pulling Gmail notifications from Pub/Sub.', about)
    const hasChanged = ready !== topicName
    topicName = ready
    problem = why
    if (hasChanged) for (const listener of listeners) listener()
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    // After a failed pull only a successful pull proves recovery: the check passes even without the permission to pull.
    let checkProvesReady = true
    while (!signal.aborted) {
      let client: Pubsub | undefined
      try {
        client = await pubsub(complete(settings), clock)
        const { topicName: checked } = client
        await client.check(signal)
        if (checkProvesReady) setState(checked, undefined)
        checkProvesReady = false
        await pullBatches(client, signal, () => {
          checkProvesReady = true
          failures = 0
          setState(checked, undefined)
        })
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof ProviderError)) log.error('Pulling Gmail notifications failed.', { ...about, error })
        failures += 1
        setState(undefined, error instanceof ProviderError ? error.message : 'an unexpected error; see the log')
        await sleep(Math.max(readRetryAfter(error), backoffMs(failures, retry)), signal)
      } finally {
        await client?.close()
      }
    }
  }

  /** Pulls until a lasting failure, which it throws. */
  async function pullBatches(client: Pubsub, signal: AbortSignal, onPulled: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const pulledAt = clock.monotonic()
      try {
        const received = await client.pull(settings.maxMessages, signal)
        if (received.length > 0) await accept(client, received, signal)
        failures = 0
        onPulled()
        const pauseMs = pulledAt + EMPTY_PULL_MS - clock.monotonic()
        if (received.length === 0 && pauseMs > 0) await sleep(pauseMs, signal)
      } catch (error) {
        const isTemporary = error instanceof ProviderError && ['unavailable', 'rate_limited'].includes(error.kind)
        failures += 1
        if (signal.aborted || !isTemporary || failures >= MAX_FAILURES) throw error
        await sleep(Math.max(readRetryAfter(error), backoffMs(failures, retry)), signal)
      }
    }
  }

  async function accept(client: Pubsub, received: readonly PubsubMessage[], signal: AbortSignal): Promise<void> {
    const ackIds = received.map(({ ackId }) => ackId)
    const newest = new Map<string, bigint>()
    let unreadable = 0
    for (const message of received) {
      const notification = parseNotification(message)
      if (notification === undefined) unreadable += 1
      else if (isNewer(notification, newest)) newest.set(notification.address, notification.historyId)
    }
    if (unreadable > 0)
      log.warn('Dropped Pub/Sub messages that are not Gmail notifications.', { ...about, metadata: { unreadable } })
    const isCommitted = await requestSyncs(client, ackIds, newest, signal)
    if (signal.aborted) return
    if (isCommitted) for (const [address, historyId] of newest) requested.set(address, historyId)
    await client.acknowledge(ackIds)
  }

  function isNewer({ address, historyId }: GmailNotification, newest: ReadonlyMap<string, bigint>): boolean {
    const last = newest.get(address) ?? requested.get(address)
    return last === undefined || historyId > last
  }

  /** Returns false after the last attempt failed: the accounts then wait for their next poll. */
  async function requestSyncs(
    client: Pubsub,
    ackIds: readonly string[],
    newest: ReadonlyMap<string, bigint>,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (let attempts = 1; newest.size > 0 && !signal.aborted; attempts += 1) {
      try {
        const accountIds = await accountQueries(db.read).at('gmail', [...newest.keys()])
        await db.transaction((tx) => deps.accounts.requestSync(tx, accountIds, 'changes'))
        return true
      } catch (error) {
        if (attempts > settings.maxRetries) {
          log.error('Cannot request the sync of notified Gmail accounts; they wait for their next poll.', {
            ...about,
            error,
          })
          return false
        }
        await client.extend(ackIds, settings.ackDeadlineSeconds)
        await sleep(backoffMs(attempts, commit), signal)
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
      if (missing.length > 0) setState(undefined, `${missing.join(' and ')} not set`)
      else running = run(stopping.signal)
    },
    async stop() {
      stopping.abort(new Error('the service stops'))
      await running
    },
  }
}

function findMissing({ topicName, subscriptionName, credentials }: GmailPullerDeps['settings']): string[] {
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

function readRetryAfter(error: unknown): number {
  return error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0
}

/** Gmail's notification: the mailbox changed, and its history reaches this id. */
interface GmailNotification {
  /** In lower case. */
  address: string
  historyId: bigint
}

const MAX_NOTIFICATION_BYTES = 4096

/** Gmail's documentation shows `historyId` both as a string and as a number. */
const isNotification = schemaCheck(
  Type.Object({
    emailAddress: Type.String({ minLength: 3, maxLength: 320 }),
    historyId: Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,32}$' })]),
  }),
)

/** Undefined for any other message: every publisher of the topic can send anything. */
function parseNotification({ data }: PubsubMessage): GmailNotification | undefined {
  if (data.length > MAX_NOTIFICATION_BYTES) return undefined
  try {
    const parsed: unknown = JSON.parse(data.toString('utf8'))
    if (!isNotification(parsed)) return undefined
    return { address: parsed.emailAddress.toLowerCase(), historyId: BigInt(parsed.historyId) }
  } catch (error) {
    rethrowProgrammingError(error)
    return undefined
  }
}
