/**
 * Search for words in stored messages: one tokeniser for both engines, an index derived from the messages, and an indexer that
 * follows their changes. `mail/messages` defines what a search is and shows its results.
 */
import type { Bus } from '../../platform/bus/index.ts'
import { sleep, untilAborted } from '../../platform/concurrency/abort.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type MessageSearch, unindexedMessages } from '../messages/index.ts'
import { COUNT_LIMIT, SearchUnavailable } from './contract.ts'
import { type IndexerTiming, indexer } from './indexer.ts'
import { postgresIndex } from './postgres.ts'
import { sqliteIndex } from './sqlite/index.ts'
import { mayContain, providerWords, queryTerms } from './terms.ts'

export { searchFeature } from './feature.ts'

export interface SearchDeps {
  db: Db
  bus: Bus
  log: Log
  clock: Clock
  timing?: Partial<IndexerTiming>
  /** How long a search waits until the changes before it are indexed. */
  catchUpMs?: number
  /** For tests: `SMALL_LIST`, and from how many matches on PostgreSQL reads the list. */
  smallList?: number
  sortLimit?: number
}

const CATCH_UP_MS = 1000
const RECHECK_MS = 20
/** How long an erasure waits. The indexer continues afterwards. */
const ERASE_MS = 30_000

export interface Search extends MessageSearch {
  /** Removes what the index holds of deleted messages of the account. Best effort within 30 s; the indexer completes it. */
  forget(accountId: string): Promise<void>
  /** The error of the last update of the index; undefined when it succeeded. */
  failure(): unknown
  start(): Promise<void>
  stop(): Promise<void>
}

export function search(deps: SearchDeps): Search {
  const { db, log, catchUpMs = CATCH_UP_MS } = deps
  const index = db.file === undefined ? postgresIndex(db, deps) : sqliteIndex(db, db.file, deps)
  const following = indexer({ ...deps, index })

  /** False when it is still behind after `ms`. */
  async function caughtUp(isBehind: () => Promise<boolean>, ms: number): Promise<boolean> {
    const limit = AbortSignal.timeout(ms)
    while (await isBehind()) {
      if (limit.aborted) return false
      await untilAborted(following.run(), limit).catch((error: unknown) => {
        if (!limit.aborted) log.debug('Cannot update the search index.', { operation: 'search.index', error })
      })
      // Another instance may be indexing them.
      await sleep(RECHECK_MS, limit)
    }
    return true
  }

  async function orNotReady<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof SearchUnavailable)) throw error
      throw new AppError('not_ready', {
        message: 'The search index cannot be used at the moment. Try again shortly.',
        headers: { 'retry-after': '5' },
        cause: error,
      })
    }
  }

  return {
    async find({ words, ...query }) {
      const { accountId, labelIds } = query
      const terms = queryTerms(accountId, words)
      if (terms.length === 0 || labelIds.length === 0)
        return { hits: [], total: { count: 0, capped: false }, partial: false }
      const isComplete = await orNotReady(caughtUp(() => following.isBehind(accountId), catchUpMs))
      const { hits, count } = await orNotReady(index.find({ ...query, terms }))
      const capped = count > COUNT_LIMIT
      return { hits, total: { count: capped ? COUNT_LIMIT : count, capped }, partial: !isComplete }
    },

    providerWords,
    mayContain,

    async forget(accountId) {
      if (await caughtUp(() => unindexedMessages(db.read).hasSome(accountId), ERASE_MS)) return
      log.warn('The search index still holds messages of a deleted account. The service removes them later.', {
        accountId,
        operation: 'search.index',
      })
    },

    failure: () => following.failure(),
    start: () => following.start(),

    async stop() {
      await following.stop()
      await index.close()
    },
  }
}
