import type { Log } from '../infra/log/index.ts'
import { withTimeout } from '../lib/abort.ts'
import type { RuntimeContext } from './runtime-context.ts'

/** The service as `main.ts` sees it. */
export interface App {
  /** Opens everything, in order; resolves when requests are answered. Gives up soon after `aborted` fires. */
  start(aborted: AbortSignal): Promise<{ url: string }>
  /**
   * Not ready → stop accepting → drain, at most 25 s → release ownership → close, in this order. Also after a start
   * that failed or was aborted, and twice safely.
   */
  stop(): Promise<void>
}

export type SignalName = 'SIGINT' | 'SIGTERM'

/** How the process receives signals and ends: `process` itself, except in tests. */
export interface Host {
  onSignal(listener: (signal: SignalName) => void): void
  exit(code: number): void
}

/** npm, and a terminal's Ctrl-C through it, deliver one signal twice. */
const SAME_SIGNAL_MS = 1000
/** Beyond the 25 s of draining; orchestrators kill after 30 s. */
const STOP_LIMIT_MS = 29_000
const ABORTED_START_LIMIT_MS = 5000
const STOP = { operation: 'service.stop' }

/**
 * Starts the app and, at the first signal, stops it and exits 0. A second signal more than 1 s later exits 1 at once, and so
 * do a start or a stop that fails.
 */
export async function run(app: App, { log, clock }: Pick<RuntimeContext, 'log' | 'clock'>, host: Host): Promise<void> {
  const aborted = new AbortController()
  const firstSignal = once(aborted.signal)
  let firstSignalAtMs: number | undefined
  host.onSignal((signal) => {
    const nowMs = clock.monotonic()
    if (firstSignalAtMs === undefined) {
      firstSignalAtMs = nowMs
      log.info(`${signal} received: stopping.`, { ...STOP, metadata: { signal } })
      aborted.abort()
    } else if (nowMs - firstSignalAtMs > SAME_SIGNAL_MS) {
      log.warn(`${signal} again: exiting at once.`, STOP)
      host.exit(1)
    }
  })

  const hasStarted = await started(app, log, aborted.signal, firstSignal)
  if (hasStarted) await firstSignal
  const hasStopped = await stopped(app, log)
  host.exit(hasStopped && aborted.signal.aborted ? 0 : 1)
}

/** False when the start failed; a start that was aborted counts as started, because it is stopped the same way. */
async function started(app: App, log: Log, aborted: AbortSignal, firstSignal: Promise<void>): Promise<boolean> {
  const start = app.start(aborted)
  try {
    const up = await Promise.race([start, firstSignal])
    if (up !== undefined) log.info(`The service answers at ${up.url}.`, { operation: 'service.start', metadata: up })
    else await withTimeout(start, ABORTED_START_LIMIT_MS, () => new Error('the start did not end'))
    return true
  } catch (error) {
    if (aborted.aborted) return true
    log.fatal(`The service cannot start: ${messageOf(error)}`, { operation: 'service.start', error })
    return false
  }
}

async function stopped(app: App, log: Log): Promise<boolean> {
  try {
    await withTimeout(app.stop(), STOP_LIMIT_MS, () => new Error('stopping took too long'))
    log.info('The service has stopped.', STOP)
    return true
  } catch (error) {
    log.error('The service did not stop in order; what was not finished goes on at the next start.', { ...STOP, error })
    return false
  }
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
