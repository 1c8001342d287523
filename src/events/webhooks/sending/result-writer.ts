import type { Db } from '../../../platform/db/index.ts'
import type { Log, LogFields } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { Recorder } from '../../index.ts'
import { type AttemptResult, type RecordedResults, recordResults } from './results.ts'

/** A result waits this long for others to share its transaction. */
const MAX_WAIT_MS = 20
const MAX_BATCH = 100

export interface ResultWriterDeps {
  db: Db
  clock: Clock
  log: Log
  recorder: Recorder
  /** Called with the attempts of each transaction, for the metrics. */
  onAttempts?: ((attempts: readonly AttemptResult[]) => void) | undefined
  /** Called with what each transaction recorded. */
  onResults?: ((results: RecordedResults) => void) | undefined
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
      this.#deps.onAttempts?.(recorded.recorded)
      this.#deps.onResults?.(recorded)
      const opened = new Set(
        recorded.circuits.flatMap(({ endpoint, state }) => (state === 'closed' ? [] : endpoint.id)),
      )
      for (const { result, resolve } of batch) resolve({ circuitOpened: opened.has(result.endpoint.id) })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  #log({ retrying, failed, disabled, circuits }: RecordedResults): void {
    const { log } = this.#deps
    for (const { endpoint, state } of circuits) {
      const about = { operation: 'webhooks.circuit', metadata: { endpointId: endpoint.id, circuit: state } }
      if (state === 'closed') log.info('A webhook endpoint accepts deliveries again; its circuit is closed.', about)
      else log.warn('A webhook endpoint keeps failing; its deliveries wait until a probe succeeds.', about)
    }
    for (const { id } of disabled) {
      log.warn('A webhook endpoint responded with 410 and is inactive now. Activate it to send again.', {
        operation: 'webhooks.disable',
        metadata: { endpointId: id },
      })
    }
    for (const results of byEndpointId(failed)) {
      log.warn(`${deliveries(results)} failed after the last attempt.`, aboutFailures('webhooks.deliver', results))
    }
    for (const results of byEndpointId(retrying)) {
      log.info(`${deliveries(results)} failed and will be retried.`, aboutFailures('webhooks.retry', results))
    }
  }
}

/** One entry per endpoint and batch: an endpoint that is down fails thousands of deliveries. */
function byEndpointId(results: readonly AttemptResult[]): AttemptResult[][] {
  const groups = new Map<string, AttemptResult[]>()
  for (const result of results) {
    const group = groups.get(result.endpoint.id)
    if (group === undefined) groups.set(result.endpoint.id, [result])
    else group.push(result)
  }
  return [...groups.values()]
}

const deliveries = ({ length }: readonly AttemptResult[]) =>
  length === 1 ? 'A webhook delivery' : `${length} webhook deliveries`

/** The newest of several results represents them; a single one is named. */
function aboutFailures(operation: string, results: readonly AttemptResult[]): LogFields {
  const last = results.at(-1)
  if (last === undefined) return { operation }
  const { delivery, endpoint, outcome } = last
  const accounts = new Set(results.map((result) => result.delivery.accountId))
  return {
    operation,
    durationMs: outcome.durationMs,
    ...(accounts.size === 1 && delivery.accountId !== null && { accountId: delivery.accountId }),
    metadata: {
      endpointId: endpoint.id,
      deliveries: results.length,
      ...(results.length === 1 && { deliveryId: delivery.id, eventType: delivery.eventType }),
      attempts: delivery.attempt + 1,
      kind: outcome.error?.kind,
      status: outcome.responseStatus,
    },
  }
}
