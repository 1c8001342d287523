import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { workerFile } from '../../platform/threads/worker-file.ts'
import { WorkerThread } from '../../platform/threads/worker-thread.ts'
import { ProviderError } from '../contract/index.ts'
import type { ObjectZones } from './events/zones.ts'
import { type ObjectResponse, parseParts, type ResponsePart } from './object-batch.ts'

export interface ThreadRequest extends ObjectResponse {
  /** Identifies the calendar among all accounts. */
  calendar: string
}

/** `tooLarge`: the message of a `limit_exceeded`. */
export type ThreadPart = { part: ResponsePart } | { tooLarge: string }

/** Fewer bytes take a few milliseconds: most syncs find some changed events. */
const INLINE_BYTES = 64 * 1024
/** A response of 16 MB takes two seconds. */
const TIMEOUT_MS = 15_000
const IDLE_MS = 60_000

/** Parses the objects of large responses on a worker thread: those of 10,000 events take two seconds. */
export class ObjectThread {
  readonly #thread = new WorkerThread<ThreadRequest, ThreadPart>({
    file: workerFile('caldav-worker'),
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
  })

  /** `zones`: of the calendar, for a small response. Throws `ProviderError`. */
  async *parseParts(request: ThreadRequest, zones: ObjectZones): AsyncGenerator<ResponsePart, void> {
    if (request.body.length <= INLINE_BYTES) return yield* parseParts(request, zones)
    try {
      for await (const reply of this.#thread.parts(request)) {
        if ('tooLarge' in reply) throw new ProviderError('limit_exceeded', reply.tooLarge)
        yield reply.part
      }
    } catch (error) {
      if (error instanceof ProviderError || !(error instanceof Error)) throw error
      rethrowProgrammingError(error)
      throw new ProviderError('unavailable', `${request.doing}: cannot parse the response (${error.message})`)
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
