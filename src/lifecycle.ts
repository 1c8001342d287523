import type { Config } from './config.ts'
import type { Log, LogRing, Redactor } from './infra/log/index.ts'
import type { Clock } from './lib/clock.ts'
import type { Ids } from './lib/ids.ts'

/** What exists before the application and outlives it. */
export interface Ground {
  config: Config
  clock: Clock
  ids: Ids
  /** `ins_…`: this process, in records, heartbeats and leases. */
  instanceId: string
  log: Log
  logs: LogRing
  /** For secrets that become known during the start: `redactor.hide(secret)`. */
  redactor: Redactor
}

/** The service as `main.ts` sees it. */
export interface App {
  /** Opens everything, in order; resolves when requests are answered. Gives up soon after `aborted` fires. */
  start(aborted: AbortSignal): Promise<{ url: string }>
  /**
   * Not ready → stop accepting → drain, at most 25 s → release ownership → close, in this order. Also after a start
   * that failed, and twice safely.
   */
  stop(): Promise<void>
}

export type SignalName = 'SIGINT' | 'SIGTERM'

/** How the process hears of signals and ends; `process` itself, but for tests. */
export interface Host {
  onSignal(listener: (signal: SignalName) => void): void
  exit(code: number): void
}

/** npm, and a terminal's Ctrl-C through it, deliver one signal twice. */
const SAME_SIGNAL_MS = 1000
/** Beyond the 25 s of draining; an orchestrator kills at 30 s. */
const STOP_LIMIT_MS = 29_000
const ABORTED_START_LIMIT_MS = 5000

/** Starts the app and, at the first signal, stops it and exits 0. A second signal more than 1 s later exits 1 at once. */
export async function run(app: App, ground: Pick<Ground, 'log' | 'clock'>, host: Host): Promise<void> {
  const { log, clock } = ground
  const aborted = new AbortController()
  let firstSignalAtMs: number | undefined
  const stopAndExit = async (code: number) => {
    const limit = setTimeout(() => {
      log.error('Stopping took too long; what was not finished goes on at the next start.', {
        operation: 'service.stop',
      })
      host.exit(1)
    }, STOP_LIMIT_MS)
    try {
      await app.stop()
      log.info('The service has stopped.', { operation: 'service.stop' })
      host.exit(code)
    } catch (error) {
      log.error('Stopping failed; what was not finished goes on at the next start.', {
        operation: 'service.stop',
        error,
      })
      host.exit(1)
    } finally {
      clearTimeout(limit)
    }
  }

  let starting = true
  host.onSignal((signal) => {
    const nowMs = clock.monotonic()
    if (firstSignalAtMs !== undefined) {
      if (nowMs - firstSignalAtMs <= SAME_SIGNAL_MS) return
      log.warn(`${signal} again: exiting at once.`, { operation: 'service.stop' })
      return host.exit(1)
    }
    firstSignalAtMs = nowMs
    log.info(`${signal} received: stopping.`, { operation: 'service.stop', metadata: { signal } })
    aborted.abort()
    if (starting) setTimeout(() => host.exit(1), ABORTED_START_LIMIT_MS).unref()
    else void stopAndExit(0)
  })

  try {
    const { url } = await app.start(aborted.signal)
    log.info(`The service answers at ${url}.`, { operation: 'service.start', metadata: { url } })
  } catch (error) {
    if (!aborted.signal.aborted) {
      log.fatal(`The service cannot start: ${messageOf(error)}`, { operation: 'service.start', error })
      return stopAndExit(1)
    }
  }
  starting = false
  if (aborted.signal.aborted) await stopAndExit(0)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
