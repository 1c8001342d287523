import { sleep } from '../concurrency/abort.ts'
import { backoffMs } from '../concurrency/retry.ts'
import type { Log, LogEntry, LogSink } from '../log/index.ts'
import { type OtlpIdentity, recordCodec } from './records.ts'
import { otlpTransport, type TransportOptions } from './transport.ts'

export interface OtlpOptions extends OtlpIdentity, TransportOptions {
  /** Maximum number of records that wait, those of the running export included. Further ones are dropped. */
  maxQueueSize: number
  maxExportBatchSize: number
  /** Delay of an export, so that records share it. */
  scheduledDelayMs: number
  /** For the beginning and the end of an outage. Its records pass this exporter, too. */
  log(): Pick<Log, 'info' | 'warn'>
}

export interface OtlpLogs {
  add: LogSink
  /** Records that the queue or the collector did not take, since the start. */
  readonly dropped: number
  /** Exports what waits, for at most `limitMs`; then drops it. Twice safely. */
  close(limitMs: number): Promise<void>
}

const RETRY = { baseMs: 1000, capMs: 30_000 }
/** Between two attempts during `close`. */
const CLOSING_PAUSE_MS = 100
const OPERATION = 'logs.export'

/**
 * Exports records in batches, one at a time.
 *
 *   add ──► waiting (bounded) ──► batch ──► accepted: next batch
 *                 ▲                  ├────► refused for good: dropped
 *                 └──── kept ◄───────┴────► failed: again after a delay
 */
export function otlpLogs(options: OtlpOptions): OtlpLogs {
  const { maxQueueSize, scheduledDelayMs } = options
  const batchSize = Math.min(options.maxExportBatchSize, maxQueueSize)
  const transport = otlpTransport(options)
  const waiting: LogEntry[] = []
  /** Ends the delay before an export. */
  let wake = new AbortController()
  /** Ends everything. */
  const ended = new AbortController()
  let isClosing = false
  let dropped = 0
  /** The count at the beginning of the outage. Undefined while the collector accepts records. */
  let droppedBefore: number | undefined
  let failures = 0
  let running: Promise<void> | undefined

  function drop(count: number, reason: string): void {
    begin(reason)
    dropped += count
  }

  function begin(reason: string): void {
    if (droppedBefore !== undefined) return
    droppedBefore = dropped
    options
      .log()
      .warn(
        `The collector does not take log records (${reason}). Up to ${maxQueueSize} of them wait; further ones are dropped. Check OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_LOGS_HEADERS and the collector.`,
        { operation: OPERATION, metadata: { reason } },
      )
  }

  function end(): void {
    failures = 0
    if (droppedBefore === undefined) return
    const lost = dropped - droppedBefore
    droppedBefore = undefined
    options.log().info(`The collector takes log records again; ${lost} were dropped.`, {
      operation: OPERATION,
      metadata: { dropped: lost },
    })
  }

  /** Runs while records wait. */
  async function run(): Promise<void> {
    const codec = await recordCodec(options)
    while (waiting.length > 0 && !ended.signal.aborted) {
      if (!isClosing && waiting.length < batchSize) await pause(scheduledDelayMs)
      const batch = waiting.slice(0, batchSize)
      const delivery = await transport.send(codec.encode(batch), ended.signal)
      if (delivery.outcome === 'failed') {
        failures += 1
        begin(delivery.reason)
        await pause(delivery.retryAfterMs ?? backoffMs(failures, RETRY))
        continue
      }
      waiting.splice(0, batch.length)
      if (delivery.outcome === 'refused') {
        drop(batch.length, delivery.reason)
        continue
      }
      const rejected = Math.min(codec.rejectedIn(delivery.response), batch.length)
      if (rejected > 0) drop(rejected, 'it rejected some')
      // Not while a full queue empties, because it may fill again.
      else if (waiting.length < batchSize) end()
    }
  }

  /** Shortened by `close`. */
  async function pause(ms: number): Promise<void> {
    wake = new AbortController()
    await sleep(isClosing ? Math.min(ms, CLOSING_PAUSE_MS) : ms, wake.signal)
  }

  function start(): void {
    running ??= run()
      .catch((error: unknown) => {
        drop(waiting.splice(0).length, error instanceof Error ? error.name : 'error')
      })
      .finally(() => {
        running = undefined
        if (waiting.length > 0 && !ended.signal.aborted) start()
      })
  }

  return {
    add(entry) {
      if (ended.signal.aborted) return
      if (waiting.length >= maxQueueSize) {
        drop(1, 'the queue is full')
        return
      }
      waiting.push(entry)
      if (running === undefined) start()
      // Only while it delays for more records: a pause after a failure lasts.
      else if (waiting.length >= batchSize && failures === 0) wake.abort()
    },
    get dropped() {
      return dropped
    },
    async close(limitMs) {
      isClosing = true
      wake.abort()
      const limit = setTimeout(() => {
        ended.abort()
        wake.abort()
      }, limitMs)
      while (running !== undefined && !ended.signal.aborted) await running
      clearTimeout(limit)
      ended.abort()
      transport.close()
    },
  }
}
