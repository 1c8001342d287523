import { EVENTS_TOPIC } from '../../events/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import { type Db, findState, type Handle, lockState, setState } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { addUnindexed, unindexedMessages } from '../messages/index.ts'
import type { SearchIndex } from './contract.ts'

interface IndexerDeps {
  db: Db
  bus: Bus
  log: Log
  clock: Clock
  index: SearchIndex
  /** For tests: shorter times. */
  timing?: Partial<IndexerTiming>
}

export interface IndexerTiming {
  /** Changes are indexed once there were no others for so long. A search does not wait for it. */
  quietMs: number
  /** They are indexed after this long in any case. */
  maxDelayMs: number
  /** How often changes are searched for that no hint announced. */
  sweepMs: number
  /** How long to wait after a failure. */
  retryMs: number
}

const TIMING: IndexerTiming = { quietMs: 500, maxDelayMs: 5000, sweepMs: 15_000, retryMs: 5000 }
const CHANGES_PER_STEP = 500
export const STATE = 'search.index'
const BUILD_LOCK = 'search.build'

/**
 * How far a new index has been built. `before`: messages with a lower id are still to be added to the queue; null when all
 * are. Newest messages come first.
 */
interface BuildState {
  identity: string
  before: string | null
}

const ABOVE_ALL_IDS = '~'

/** Keeps the index up to date with the messages. Runs on every instance; only the rows of the queue say what is to be done. */
export function indexer({ db, bus, log, clock, index, timing = {} }: IndexerDeps) {
  const { quietMs, maxDelayMs, sweepMs, retryMs } = { ...TIMING, ...timing }
  const stopping = new AbortController()
  let unsubscribe = () => {}
  let sweeper: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let failure: unknown
  /** When the run that is due next was requested first and last; undefined when none is due. Monotonic. */
  let requested: { firstMs: number; lastMs: number } | undefined

  /** Resolves when everything that was recorded before the call is indexed, or left to another instance. */
  async function run(): Promise<void> {
    // The run in progress may have read the queue already.
    if (running !== undefined) await running.catch(() => {})
    running ??= catchUp()
      .then(() => {
        failure = undefined
      })
      .catch((error: unknown) => {
        failure = error
        throw error
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  async function catchUp(): Promise<void> {
    await beginBuild(await index.identity())
    do {
      while ((await index.indexChanges(CHANGES_PER_STEP)) > 0) if (stopping.signal.aborted) return
    } while (!stopping.signal.aborted && (await continueBuild()))
  }

  async function beginBuild(identity: string): Promise<void> {
    if ((await buildState())?.identity === identity) return
    const before = (await unindexedMessages(db.read).hasMessages()) ? ABOVE_ALL_IDS : null
    await db.transaction(async (tx) => {
      await lockState(tx, BUILD_LOCK)
      if ((await buildState(tx))?.identity === identity) return
      await index.clear(tx)
      await setState(tx, STATE, JSON.stringify({ identity, before } satisfies BuildState))
    })
    if (before !== null) log.info('Building the search index.', { operation: 'search.build' })
  }

  /** Adds older messages to the queue, without those that were indexed since the build began. Returns false when there are none. */
  async function continueBuild(): Promise<boolean> {
    const state = await buildState()
    const before = state?.before ?? null
    if (state === undefined || before === null) return false
    const older = await unindexedMessages(db.read).messagesBefore(before, CHANGES_PER_STEP)
    const indexed = await index.indexed(older.map(({ messageId }) => messageId))
    const lowest = older.at(-1)?.messageId
    await db.transaction(async (tx) => {
      await addUnindexed(
        tx,
        older.filter(({ messageId }) => !indexed.has(messageId)),
      )
      await setState(tx, STATE, JSON.stringify({ ...state, before: lowest ?? null } satisfies BuildState))
    })
    if (lowest === undefined) log.info('The search index is complete.', { operation: 'search.build' })
    return lowest !== undefined
  }

  async function buildState(handle: Handle = db.read): Promise<BuildState | undefined> {
    const text = await findState(handle, STATE)
    return text === undefined ? undefined : (JSON.parse(text) as BuildState)
  }

  /** While a burst of messages arrives, the indexing would take a core from sync and deliveries. */
  function changed(): void {
    const nowMs = clock.monotonic()
    if (requested !== undefined) requested.lastMs = nowMs
    else {
      requested = { firstMs: nowMs, lastMs: nowMs }
      runIn(quietMs)
    }
  }

  function runIn(delayMs: number): void {
    void sleep(delayMs, stopping.signal).then(async () => {
      if (stopping.signal.aborted) return
      if (requested !== undefined) {
        const dueMs = Math.min(requested.lastMs + quietMs, requested.firstMs + maxDelayMs)
        const leftMs = dueMs - clock.monotonic()
        if (leftMs > 0) return runIn(leftMs)
      }
      requested = undefined
      await runIfDue().catch((error: unknown) => {
        if (stopping.signal.aborted) return
        log.warn('Cannot update the search index. Searches lack the newest messages until it succeeds.', {
          operation: 'search.index',
          error,
        })
        runIn(retryMs)
      })
    })
  }

  /** Most events are about no message. After a failure, only a run shows whether it is over. */
  async function runIfDue(): Promise<void> {
    if (failure !== undefined || (await hasWork())) await run()
  }

  async function sweep(): Promise<void> {
    if (await hasWork()) runIn(0)
  }

  /** Cheap: the index is not opened. */
  async function hasWork(): Promise<boolean> {
    const state = await buildState()
    const isIncomplete = await isBuilding(state, state !== undefined && index.mayHave(state.identity))
    return isIncomplete || unindexedMessages(db.read).hasSome()
  }

  async function isBuilding(state: BuildState | undefined, isSame: boolean): Promise<boolean> {
    return isSame ? state?.before !== null : unindexedMessages(db.read).hasMessages()
  }

  return {
    run,
    /** The error of the last run; undefined when it succeeded. */
    failure: () => failure,

    /** True when messages of the account, or messages stored before the index, are not indexed. */
    async isBehind(accountId: string): Promise<boolean> {
      const [identity, state] = [await index.identity(), await buildState()]
      return (await isBuilding(state, state?.identity === identity)) || unindexedMessages(db.read).hasSome(accountId)
    },

    async start(): Promise<void> {
      unsubscribe = bus.subscribe(EVENTS_TOPIC, changed)
      sweeper = setInterval(() => {
        sweep().catch((error: unknown) =>
          log.warn('Cannot search for changes to index. The next attempt follows shortly.', {
            operation: 'search.index',
            error,
          }),
        )
      }, sweepMs)
      await sweep()
    },

    async stop(): Promise<void> {
      stopping.abort()
      unsubscribe()
      clearInterval(sweeper)
      await running?.catch(() => {})
    },
  }
}
