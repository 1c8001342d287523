import { sleep } from '../platform/concurrency/abort.ts'
import type { Log } from '../platform/log/index.ts'
import type { Part } from './start-stop.ts'

/** Steps that take less time together share a turn of the event loop. */
const TURN_MS = 5

/**
 * Does, once the service accepts requests, what the first request of each route and the first connection would otherwise wait for. No step
 * takes more than 20 ms, and after each turn as much time is left to requests and syncs, which have much to do after a start.
 */
export function warmUp(steps: () => readonly (() => unknown)[], log: Log): Part {
  const stopping = new AbortController()
  let running = Promise.resolve()

  async function run(): Promise<void> {
    let heldMs = 0
    for (const step of steps()) {
      if (stopping.signal.aborted) return
      const startedMs = performance.now()
      const done = step()
      heldMs += performance.now() - startedMs
      await done
      if (heldMs < TURN_MS) continue
      await sleep(heldMs, stopping.signal)
      heldMs = 0
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
