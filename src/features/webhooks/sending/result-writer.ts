import type { Recorder } from '../../../events/index.ts'
import type { Db } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type AttemptResult, type RecordedResults, recordResults } from './results.ts'

/** Results wait this long for others, so that many become one transaction. */
const WITHIN_MS = 20
const AT_ONCE = 100

export interface ResultWriterDeps {
  db: Db
  clock: Clock
  log: Log
  recorder: Recorder
}

interface Waiting {
  attempted: AttemptResult
  resolve: (written: { endpointBroken: boolean }) => void
  reject: (error: unknown) => void
}

/**
 * Collects what came of attempts, of all endpoints, and writes it in batches, one transaction at a time: commits are what
 * the file store spends most on under load (a third of its time in statements), whatever the rows in them.
 */
export class ResultWriter {
  readonly #deps: ResultWriterDeps
  #waiting: Waiting[] = []
  #isWriting = false
  #timer: NodeJS.Timeout | undefined

  constructor(deps: ResultWriterDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when it is written, with whether the endpoint's circuit has opened. Rejects when it cannot be: the attempt is
   * forgotten, and its delivery will be freed and sent again with the same ids.
   */
  add(attempted: AttemptResult): Promise<{ endpointBroken: boolean }> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ attempted, resolve, reject })
      if (this.#waiting.length >= AT_ONCE) this.hurry()
      else this.#timer ??= setTimeout(() => this.hurry(), WITHIN_MS)
    })
  }

  /** Waits for no others. */
  hurry(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isWriting) void this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) await this.#write(this.#waiting.splice(0, AT_ONCE))
    this.#isWriting = false
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const attempted = batch.map((entry) => entry.attempted)
    try {
      // A connection that broke in the middle is no reason to send everything again: what was written already is passed over.
      const settled = await this.#recordResults(attempted).catch(() => this.#recordResults(attempted))
      this.#tell(settled)
      const broken = new Set(settled.switched.flatMap(({ endpoint, state }) => (state === 'closed' ? [] : endpoint.id)))
      for (const entry of batch) entry.resolve({ endpointBroken: broken.has(entry.attempted.endpoint.id) })
    } catch (error) {
      for (const entry of batch) entry.reject(error)
    }
  }

  #recordResults(attempted: readonly AttemptResult[]): Promise<RecordedResults> {
    const { db, clock } = this.#deps
    return db.transaction((tx) => recordResults(tx, this.#deps, attempted, clock.now()))
  }

  #tell({ failed, switched }: RecordedResults): void {
    const { log } = this.#deps
    for (const { endpoint, state } of switched) {
      const metadata = { endpointId: endpoint.id, circuit: state }
      if (state === 'closed') log.info('A webhook endpoint works again.', { operation: 'webhooks.circuit', metadata })
      else
        log.warn('A webhook endpoint keeps failing; its deliveries wait.', { operation: 'webhooks.circuit', metadata })
    }
    for (const { delivery, endpoint, outcome } of failed) {
      log.warn('A webhook delivery failed for good.', {
        operation: 'webhooks.deliver',
        accountId: delivery.accountId ?? undefined,
        metadata: {
          deliveryId: delivery.id,
          endpointId: endpoint.id,
          eventType: delivery.eventType,
          attempts: delivery.attempt + 1,
          kind: outcome.error?.kind,
          status: outcome.responseStatus,
        },
      })
    }
  }
}
