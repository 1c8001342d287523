import { withTimeout } from '../platform/concurrency/abort.ts'
import type { Log } from '../platform/log/index.ts'
import type { RuntimeContext } from './runtime-context.ts'

/** The service as `main.ts` sees it. */
export interface App {
  /** Opens everything in order; resolves when the service accepts requests. Rejects soon after `aborted` fires. */
  start(aborted: AbortSignal): Promise<{ url: string }>
  /**
   * Reports not ready, stops accepting, drains for at most 25 s, releases ownership, then closes. Works also after a start
   * that failed or was aborted, and twice safely.
   */
  stop(): Promise<void>
}

export type SignalName = 'SIGINT' | 'SIGTERM'

/** Signals and the end of the process: `process` itself, except in tests. */
export interface Host {
  onSignal(listener: (signal: SignalName) => void): void
  /** Called once the service accepts requests. */
  onStarted?(url: string): void
  /** Called with a sentence for a person when the service cannot start. */
  onStartFailed?(message: string): void
  exit(code: number): void
}

/** With npm, one Ctrl-C delivers the signal twice. */
const SAME_SIGNAL_MS = 1000
/** Longer than the 25 s of draining. With the export of the last log records, shorter than the 30 s after which orchestrators kill. */
const STOP_LIMIT_MS = 27_000
const ABORTED_START_LIMIT_MS = 5000
const STOP = { operation: 'service.stop' }

/**
 * Starts the app, stops it at the first signal, and exits 0. Exits 1 when the start or the stop fails, and at once at a
 * second signal more than 1 s after the first.
 */
export async function run(
  app: App,
  { log, clock, close }: Pick<RuntimeContext, 'log' | 'clock' | 'close'>,
  host: Host,
): Promise<void> {
  const aborted = new AbortController()
  const firstSignal = once(aborted.signal)
  let firstSignalAtMs: number | undefined
  host.onSignal((signal) => {
    const nowMs = clock.monotonic()
    if (firstSignalAtMs === undefined) {
      firstSignalAtMs = nowMs
      log.info(`Received ${signal}; stopping.`, { ...STOP, metadata: { signal } })
      aborted.abort()
    } else if (nowMs - firstSignalAtMs > SAME_SIGNAL_MS) {
      log.warn(`Received ${signal} again; exiting at once.`, STOP)
      host.exit(1)
    }
  })

  const hasStarted = await started(app, log, aborted.signal, firstSignal, host)
  if (hasStarted) await firstSignal
  const hasStopped = await stopped(app, log)
  await close()
  host.exit(hasStopped && aborted.signal.aborted ? 0 : 1)
}

/** Returns false when the start failed. An aborted start counts as started, because it is stopped the same way. */
async function started(
  app: App,
  log: Log,
  aborted: AbortSignal,
  firstSignal: Promise<void>,
  host: Host,
): Promise<boolean> {
  const start = app.start(aborted)
  try {
    const up = await Promise.race([start, firstSignal])
    if (up !== undefined) {
      log.info(`The service accepts requests at ${up.url}.`, { operation: 'service.start', metadata: up })
      host.onStarted?.(up.url)
    } else await withTimeout(start, ABORTED_START_LIMIT_MS, () => new Error('the start did not end'))
    return true
  } catch (error) {
    if (aborted.aborted) return true
    const message = `The service cannot start: ${errorMessage(error)}`
    log.fatal(message, { operation: 'service.start', error })
    host.onStartFailed?.(message)
    return false
  }
}

async function stopped(app: App, log: Log): Promise<boolean> {
  try {
    await withTimeout(app.stop(), STOP_LIMIT_MS, () => new Error('stopping took too long'))
    log.info('The service has stopped.', STOP)
    return true
  } catch (error) {
    log.error('The service did not stop cleanly. Unfinished work continues after the next start.', { ...STOP, error })
    return false
  }
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
