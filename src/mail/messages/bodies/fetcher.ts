import type { Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Queue, Worker } from '../../../platform/queue/index.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import { type LiveAccessDeps, type LiveContents, liveContents } from '../read/live-access.ts'
import { addPendingBodies, bodyStore, countFailedAttempt, discardBody, type PendingBody, storeBody } from './store.ts'

interface BodyFetcherDeps extends LiveAccessDeps {
  queue: Queue
  log: Log
}

/**
 * Fetches and stores message bodies, for `sync.storeBodies`. The fetch starts after the message is stored, so that no
 * event waits for it.
 */
export interface BodyFetcher {
  /** Requests the bodies of messages that were just stored. Takes effect when `tx` commits. */
  request(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void>
  /** Also continues with requests of earlier processes. */
  start(): Promise<void>
  stop(graceMs: number): Promise<void>
}

const QUEUE = 'bodies'
const CONCURRENCY = 4
const BATCH = 20
/** Then the body stays at the provider: it may be what makes the server drop the connection. */
const MAX_ATTEMPTS = 10
/** The delay for an account that is paused or whose credentials are refused. */
const BLOCKED_DELAY_MS = 10 * 60_000
const RECOVERY_INTERVAL_MS = BLOCKED_DELAY_MS

export function bodyFetcher(deps: BodyFetcherDeps): BodyFetcher {
  const { db, queue, log } = deps
  let worker: Worker | undefined
  let recovery: NodeJS.Timeout | undefined

  async function addJobs(delayMs: number): Promise<void> {
    for (const accountId of await bodyStore(db.read).accountsWithPending()) {
      await queue.add(QUEUE, accountId, { delayMs })
    }
  }

  async function run(accountId: string, signal: AbortSignal): Promise<undefined | { nextRunInMs: number }> {
    try {
      if ((await deps.accounts.get(accountId)).paused) return { nextRunInMs: BLOCKED_DELAY_MS }
      const contents = await liveContents(deps, accountId)
      for (;;) {
        const pending = await bodyStore(db.read).pending(accountId, BATCH)
        if (pending.length === 0) return undefined
        for (const request of pending) {
          if (signal.aborted) return undefined
          await fetchOne(accountId, contents, request)
        }
      }
    } catch (error) {
      return nextRunAfter(error)
    }
  }

  async function fetchOne(accountId: string, contents: LiveContents, pending: PendingBody): Promise<void> {
    const { messageId, attempts, ref } = pending
    try {
      const body = await contents.getBody(ref)
      await db.transaction((tx) => storeBody(tx, pending, body))
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind === 'auth_expired') throw error
      const isRejected = error.kind === 'not_found' || (error.kind === 'rejected' && !error.missingScope)
      const isPermanent = isRejected || attempts + 1 >= MAX_ATTEMPTS
      await db.transaction((tx) => (isPermanent ? discardBody(tx, pending) : countFailedAttempt(tx, messageId)))
      if (!isPermanent) throw error
      log.warn('Cannot fetch the body of a message. It is not stored; API requests read it from the provider.', {
        accountId,
        operation: 'messages.body',
        error,
        metadata: { messageId },
      })
    }
  }

  /** Rethrows temporary errors, which the queue retries with a backoff. */
  function nextRunAfter(error: unknown): undefined | { nextRunInMs: number } {
    if (error instanceof AppError) return error.code === 'not_found' ? undefined : { nextRunInMs: BLOCKED_DELAY_MS }
    if (!(error instanceof ProviderError)) throw error
    if (error.kind === 'auth_expired') return { nextRunInMs: BLOCKED_DELAY_MS }
    if (error.retryAfterMs === undefined || error.retryAfterMs <= 0) throw error
    return { nextRunInMs: error.retryAfterMs }
  }

  return {
    async request(tx, accountId, messageIds) {
      if (messageIds.length === 0) return
      await addPendingBodies(tx, accountId, messageIds)
      await queue.addIn(tx, QUEUE, [accountId])
    },

    async start() {
      worker = queue.work(QUEUE, { concurrency: CONCURRENCY }, (accountId, { signal }) => run(accountId, signal))
      await addJobs(0)
      // Replaces jobs that the queue lost. The delay leaves the time of existing jobs unchanged.
      recovery = setInterval(() => {
        addJobs(BLOCKED_DELAY_MS).catch((error: unknown) =>
          log.warn('Cannot search for bodies to fetch. The next attempt is in ten minutes.', {
            operation: 'messages.body',
            error,
          }),
        )
      }, RECOVERY_INTERVAL_MS)
    },

    async stop(graceMs) {
      clearInterval(recovery)
      await worker?.stop(graceMs)
      worker = undefined
    },
  }
}
