import { sleep } from '../platform/concurrency/abort.ts'
import type { Log } from '../platform/log/index.ts'
import type { Part } from './start-stop.ts'

/** Lets requests and syncs run in between, which have much to do after a start. */
const GAP_MS = 20

/**
 * Does, once the service accepts requests, what the first request of each route and the first connection would otherwise wait for. Each
 * step has a turn of the event loop for itself and takes less than 20 ms.
 */
export function warmUp(steps: () => readonly (() => unknown)[], log: Log): Part {
  const stopping = new AbortController()
  let running = Promise.resolve()

  async function run(): Promise<void> {
    for (const step of steps()) {
      await sleep(GAP_MS, stopping.signal)
      if (stopping.signal.aborted) return
      await step()
    }
  }

  return {
    start() {
      running = run().catch((error: unknown) => {
        log.warn('Cannot prepare for the first requests; they prepare themselves.', {
          operation: 'service.start',
          error,
        })
      })
    },
    async stop() {
      stopping.abort()
      await running
    },
    stopsWith: 'work',
  }
}
