import { setMaxListeners } from 'node:events'

/** Resolves after `ms`, or at once when the signal aborts. Never rejects and leaves no timer behind. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** Rejects with `onTimeout()` when the work takes longer than `ms`. The caller has to stop the work itself. */
export async function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Rejects with the signal's reason when the signal aborts first. The caller has to stop the work itself. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) {
      // Its failure interests nobody any more, and would end the process as an unhandled rejection.
      work.catch(() => {})
      return stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/**
 * Aborts with the first of `signals`, or after `limitMs`. Unlike `AbortSignal.any`, which costs several times as much, it does not end by
 * itself: `done` removes the timer and the listeners, which would otherwise pile up on a long-lived signal.
 */
export function anyAborted(signals: readonly AbortSignal[], limitMs?: number): { signal: AbortSignal; done(): void } {
  const either = new AbortController()
  const abort = () => either.abort(signals.find((signal) => signal.aborted)?.reason)
  // Any number of requests may share a signal. Node warns of more than ten listeners, as if they were never removed.
  setMaxListeners(0, ...signals)
  for (const signal of signals) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  }
  const timer = limitMs === undefined ? undefined : setTimeout(() => either.abort(timedOut()), limitMs)
  return {
    signal: either.signal,
    done() {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', abort)
    },
  }
}

const timedOut = () => new DOMException('The operation timed out.', 'TimeoutError')

/** True for the reason of `AbortSignal.timeout` and of `anyAborted`, with which an outgoing call rejects that took too long. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

/** Calls functions when a signal aborts. A signal gets one listener, because many requests share it. */
export class AbortCallbacks {
  readonly #bySignal = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>()

  /** Returns the function that removes the callback. */
  add(signal: AbortSignal, callback: (reason: unknown) => void): () => void {
    const callbacks = this.#of(signal)
    callbacks.add(callback)
    return () => callbacks.delete(callback)
  }

  #of(signal: AbortSignal): Set<(reason: unknown) => void> {
    const registered = this.#bySignal.get(signal)
    if (registered !== undefined) return registered
    const callbacks = new Set<(reason: unknown) => void>()
    signal.addEventListener('abort', () => callbacks.forEach((callback) => void callback(signal.reason)), {
      once: true,
    })
    this.#bySignal.set(signal, callbacks)
    return callbacks
  }
}
