import type { Recorder } from '../../../events/index.ts'
import type { Db } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type AttemptResult, type RecordedResults, recordResults } from './results.ts'

/** A result waits this long for others to share its transaction. */
const MAX_WAIT_MS = 20
const MAX_BATCH = 100

export interface ResultWriterDeps {
  db: Db
  clock: Clock
  log: Log
  recorder: Recorder
}

interface Pending {
  result: AttemptResult
  resolve: (recorded: { circuitOpened: boolean }) => void
  reject: (error: unknown) => void
}

/**
 * Batches the results of all endpoints into one transaction at a time: under load the file store spends most of its time on
 * commits, whatever the number of rows.
 */
export class ResultWriter {
  readonly #deps: ResultWriterDeps
  #pending: Pending[] = []
  #isWriting = false
  #flushAfter = false
  #timer: NodeJS.Timeout | undefined

  constructor(deps: ResultWriterDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the result is written; `circuitOpened` says whether the endpoint's circuit opened. Rejects when it cannot
   * be written: the delivery's lease then expires, and it is sent again under the same ids.
   */
  add(result: AttemptResult): Promise<{ circuitOpened: boolean }> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ result, resolve, reject })
      this.#writeWhenDue()
    })
  }

  /** Writes what is pending without waiting for more. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isWriting) this.#flushAfter = true
    else if (this.#pending.length > 0) void this.#writeNext()
  }

  #writeWhenDue(): void {
    if (this.#pending.length >= MAX_BATCH) this.flush()
    else if (this.#pending.length > 0) this.#timer ??= setTimeout(() => this.flush(), MAX_WAIT_MS)
  }

  async #writeNext(): Promise<void> {
    this.#isWriting = true
    await this.#write(this.#pending.splice(0, MAX_BATCH))
    this.#isWriting = false
    // The results that arrived meanwhile wait for others too: a transaction costs about as much for one result as for twenty.
    if (this.#flushAfter) {
      this.#flushAfter = false
      this.flush()
    } else this.#writeWhenDue()
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    const { db, clock } = this.#deps
    const results = batch.map(({ result }) => result)
    const record = () => db.transaction((tx) => recordResults(tx, this.#deps, results, clock.now()))
    try {
      // Repeated once after a lost connection, so that the batch is not sent again; results already written are skipped.
      const recorded = await record().catch(record)
      this.#log(recorded)
      const opened = new Set(
        recorded.circuits.flatMap(({ endpoint, state }) => (state === 'closed' ? [] : endpoint.id)),
      )
      for (const { result, resolve } of batch) resolve({ circuitOpened: opened.has(result.endpoint.id) })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  #log({ failed, circuits }: RecordedResults): void {
    const { log } = this.#deps
    for (const { endpoint, state } of circuits) {
      const about = { operation: 'webhooks.circuit', metadata: { endpointId: endpoint.id, circuit: state } }
      if (state === 'closed') log.info('A webhook endpoint accepts deliveries again; its circuit is closed.', about)
      else log.warn('A webhook endpoint keeps failing; its deliveries wait until a probe succeeds.', about)
    }
    for (const { delivery, endpoint, outcome } of failed) {
      log.warn('A webhook delivery failed after its last attempt.', {
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
