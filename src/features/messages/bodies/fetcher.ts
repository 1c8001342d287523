import type { Tx } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Queue, Worker } from '../../../infra/queue/index.ts'
import { AppError } from '../../../lib/errors.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import { type Contents, contentsOf, type MailboxDeps } from '../reading/live-access.ts'
import { bodyStore, dropBodies, keepBody, postponeBody, type WantedBody, wantBodies } from './store.ts'

export interface BodyFetcherDeps extends MailboxDeps {
  queue: Queue
  log: Log
}

/**
 * Keeps the bodies of messages in the store, for `sync.storeBodies`. A wish is written with the message; the body is
 * read afterwards, so that no event waits for it.
 */
export interface BodyFetcher {
  /** Wishes for the bodies of messages just stored, taking effect with the commit. */
  request(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void>
  /** Goes on with what an earlier process left, and takes what comes. */
  start(): Promise<void>
  stop(graceMs: number): Promise<void>
}

const QUEUE = 'bodies'
const CONCURRENCY = 4
const BATCH = 20
/** After so many failures a body is left at the provider: it may be the one that makes the server hang up. */
const MAX_ATTEMPTS = 10
/** When to look again at an account that is paused or whose credentials are refused. */
const LATER_MS = 10 * 60_000

export function bodyFetcher(deps: BodyFetcherDeps): BodyFetcher {
  const { db, queue, log } = deps
  let worker: Worker | undefined
  let sweeper: NodeJS.Timeout | undefined

  async function addWaiting(delayMs: number): Promise<void> {
    for (const accountId of await bodyStore(db.read).waiting()) await queue.add(QUEUE, accountId, { delayMs })
  }

  async function run(accountId: string, signal: AbortSignal): Promise<undefined | { nextRunInMs: number }> {
    try {
      if ((await deps.accounts.get(accountId)).paused) return { nextRunInMs: LATER_MS }
      const contents = await contentsOf(deps, accountId)
      for (;;) {
        const wanted = await bodyStore(db.read).wanted(accountId, BATCH)
        if (wanted.length === 0) return undefined
        for (const one of wanted) {
          if (signal.aborted) return undefined
          await keepOne(accountId, contents, one)
        }
      }
    } catch (error) {
      return whenNext(error)
    }
  }

  async function keepOne(
    accountId: string,
    contents: Contents,
    { messageId, attempts, mail }: WantedBody,
  ): Promise<void> {
    try {
      const body = await contents.getBody(mail)
      await db.transaction((tx) => keepBody(tx, messageId, body))
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind === 'auth_expired') throw error
      const isHopeless = error.kind === 'not_found' || error.kind === 'rejected' || attempts + 1 >= MAX_ATTEMPTS
      await db.transaction((tx) => (isHopeless ? dropBodies(tx, [messageId]) : postponeBody(tx, messageId)))
      if (!isHopeless) throw error
      log.warn('The body of a message is not kept; it is read from the provider', {
        ...{ accountId, operation: 'messages.body', error },
        metadata: { messageId },
      })
    }
  }

  /** Throws what the queue is to repeat after a backoff. */
  function whenNext(error: unknown): undefined | { nextRunInMs: number } {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    const isRefused = error instanceof AppError || (error instanceof ProviderError && error.kind === 'auth_expired')
    if (isRefused) return { nextRunInMs: LATER_MS }
    const afterMs = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0
    if (afterMs > 0) return { nextRunInMs: afterMs }
    throw error
  }

  return {
    async request(tx, accountId, messageIds) {
      if (messageIds.length === 0) return
      await wantBodies(tx, accountId, messageIds)
      await queue.addIn(tx, QUEUE, [accountId])
    },
    async start() {
      worker = queue.work(QUEUE, { concurrency: CONCURRENCY }, (accountId, { signal }) => run(accountId, signal))
      await addWaiting(0)
      // The delay keeps the time of jobs that wait: it has an effect only on those that the queue lost.
      sweeper = setInterval(() => {
        addWaiting(LATER_MS).catch((error: unknown) =>
          log.warn('Cannot look for bodies to keep; the next attempt is in ten minutes.', {
            operation: 'messages.body',
            error,
          }),
        )
      }, LATER_MS)
    },
    async stop(graceMs) {
      clearInterval(sweeper)
      await worker?.stop(graceMs)
      worker = undefined
    },
  }
}
