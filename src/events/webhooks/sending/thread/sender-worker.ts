import { parentPort } from 'node:worker_threads'
import { perTurn } from '../../../../platform/concurrency/event-loop.ts'
import { silentLog } from '../../../../platform/log/index.ts'
import { serviceGuard } from '../../../../platform/net/index.ts'
import { outbound } from '../../../../platform/outbound/index.ts'
import { RemoteCalls } from '../../../../platform/threads/remote-calls.ts'
import { systemClock } from '../../../../platform/time/clock.ts'
import { attempt } from '../attempt.ts'
import type { NumberedInput, NumberedOutcome, ThreadEntry, ThreadHost } from './served.ts'

// The worker thread of `sender.ts`.

const entry: ThreadEntry = {
  async start(host, { privateTargets }) {
    const onRefused = (name: string, reason: string) => void host.refused(name, reason).catch(() => {})
    const guard = serviceGuard({ privateTargets, clock: systemClock, onRefused })
    const deps = { outbound: outbound({ guard }), clock: systemClock, log: forwardErrors(host) }
    const running = new Map<number, AbortController>()
    // Outcomes are lost with the main thread only.
    const ended = perTurn<NumberedOutcome>((outcomes) => void host.ended(outcomes).catch(() => {}))

    async function run({ number, input }: NumberedInput): Promise<void> {
      const abort = new AbortController()
      running.set(number, abort)
      try {
        ended({ number, outcome: await attempt(input, deps, abort.signal) })
      } catch (error) {
        // An aborted attempt has no outcome. Any other error is a fault of ours: it ends the thread, and its attempts are repeated.
        if (!abort.signal.aborted) throw error
      } finally {
        running.delete(number)
      }
    }

    return {
      async begin(attempts) {
        for (const item of attempts) void run(item)
      },
      async abort(numbers) {
        for (const number of numbers) running.get(number)?.abort()
      },
      async ping() {},
    }
  },
}

if (parentPort !== null) new RemoteCalls(parentPort, { serves: entry })

function forwardErrors(host: ThreadHost) {
  return {
    ...silentLog,
    error: (message: string, fields = {}) => void host.failed(message, Reflect.get(fields, 'error')).catch(() => {}),
  }
}
