import { TimeoutError } from '../errors.ts'

/** The time that one attempt may take, and the signal that ends it early. */
export interface Deadline {
  /** For `fetch`. Also ends the body, for as long as that is read. */
  readonly signal: AbortSignal
  /** Stops the clock, once the response is complete. */
  clear(): void
  /** Throws a `TimeoutError`, or the reason of the caller, if that is why a request failed. */
  throwIfOver(): void
  /** Gives each further part of the body this time, measured while somebody waits for it. */
  guard(body: ReadableStream<Uint8Array>, idleMs: number): ReadableStream<Uint8Array>
}

export function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  const signal = caller === undefined ? controller.signal : AbortSignal.any([caller, controller.signal])
  const expire = (afterMs: number, says: string) => setTimeout(() => controller.abort(new TimeoutError(says)), afterMs)
  const timer = expire(timeoutMs, `The service did not respond completely within ${timeoutMs} ms.`)

  return {
    signal,
    clear: () => clearTimeout(timer),
    throwIfOver() {
      caller?.throwIfAborted()
      controller.signal.throwIfAborted()
    },
    guard(body, idleMs) {
      const reader = body.getReader()
      return new ReadableStream<Uint8Array>(
        {
          async pull(target) {
            const idle = expire(idleMs, `The service sent nothing for ${idleMs} ms.`)
            try {
              const { done, value } = await reader.read()
              if (done) target.close()
              else target.enqueue(value)
            } finally {
              clearTimeout(idle)
            }
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      )
    },
  }
}

/** Waits, or rejects with the reason of the signal. */
export function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
