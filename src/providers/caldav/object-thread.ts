import { rethrowProgrammingError } from '../../lib/programming-errors.ts'
import { workerFile } from '../../lib/worker-file.ts'
import { WorkerThread } from '../../lib/worker-thread.ts'
import { ProviderError } from '../contract/index.ts'
import { type BatchResponse, batchOf, type ObjectBatch } from './object-batch.ts'
import type { ObjectZones } from './zones.ts'

export interface ThreadRequest extends BatchResponse {
  /** Identifies the calendar among all accounts. */
  calendar: string
}

/** `tooLarge`: the message of a `limit_exceeded`. */
export type ThreadResult = { batch: ObjectBatch } | { tooLarge: string }

/** Fewer bytes take a few milliseconds: most syncs find some changed events. */
const INLINE_BYTES = 64 * 1024
/** A response of 8 MB takes a second. */
const TIMEOUT_MS = 15_000
const IDLE_MS = 60_000

/** Parses the objects of large responses on a worker thread: those of 10,000 events take two seconds. */
export class ObjectThread {
  readonly #thread = new WorkerThread<ThreadRequest, ThreadResult>({
    file: workerFile('caldav-worker'),
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
  })

  /** `zones`: of the calendar, for a small response. Throws `ProviderError`. */
  async batchOf(request: ThreadRequest, zones: ObjectZones): Promise<ObjectBatch> {
    if (request.body.length <= INLINE_BYTES) return batchOf(request, zones)
    const result = await this.#thread.call(request).catch((error: Error) => {
      rethrowProgrammingError(error)
      throw new ProviderError('unavailable', `${request.doing}: cannot parse the response (${error.message})`)
    })
    if ('tooLarge' in result) throw new ProviderError('limit_exceeded', result.tooLarge)
    return result.batch
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
