import { createSecureContext } from 'node:tls'
import { sleep } from '../platform/concurrency/abort.ts'
import type { SchemaWarmUp } from '../platform/http/index.ts'
import type { Log } from '../platform/log/index.ts'
import { warmUps } from './feature-list.ts'
import type { Part } from './start-stop.ts'

/** Before the first step: who waits until the service is healthy is answered, and requests that came meanwhile. */
const FIRST_PAUSE_MS = 50
/** Steps that take less time together share a turn of the event loop. */
const TURN_MS = 5
/** Between the steps of what is needed later. A process that ends soon does few of them, and one that has work to do is not delayed. */
const LATER_STEP_MS = 250

/** The routes that connect an account and list its messages. */
const FIRST_PATHS = new Set([
  '/auth/sessions',
  '/auth/authorize',
  '/auth/authorize/imap',
  '/accounts',
  '/accounts/:accountId',
  '/accounts/:accountId/messages',
])

interface WarmUpSteps {
  /** What the first user of a new installation needs. */
  first: readonly (() => unknown)[]
  later: readonly (() => unknown)[]
}

export function warmUpSteps(startImap: () => unknown, schemas: readonly SchemaWarmUp[]): WarmUpSteps {
  const compile = (isFirst: boolean) =>
    schemas.filter(({ path }) => FIRST_PATHS.has(path) === isFirst).map((schema) => schema.compile)
  return {
    first: [startImap, createSecureContext, ...warmUps, ...compile(true)],
    later: compile(false),
  }
}

/**
 * Does, once the service accepts requests, what the first request of each route and the first connection would otherwise wait for. No step
 * takes more than 20 ms, and after each turn as much time is left to requests and syncs, which have much to do after a start.
 */
export function warmUp(steps: () => WarmUpSteps, log: Log): Part {
  const stopping = new AbortController()
  const { signal } = stopping
  let running = Promise.resolve()

  async function run(): Promise<void> {
    await sleep(FIRST_PAUSE_MS, signal)
    if (signal.aborted) return
    const { first, later } = steps()
    let heldMs = 0
    for (const step of first) {
      if (signal.aborted) return
      const startedMs = performance.now()
      const done = step()
      heldMs += performance.now() - startedMs
      await done
      if (heldMs < TURN_MS) continue
      await sleep(heldMs, signal)
      heldMs = 0
    }
    for (const step of later) {
      await sleep(LATER_STEP_MS, signal)
      if (signal.aborted) return
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
