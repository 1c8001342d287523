import { sleep } from '../../lib/abort.ts'

export interface PacingOptions {
  /** Connection attempts under way at one host. */
  concurrent: number
  /** A start that nobody waits for is put off by a random part of this, so that a crowd does not arrive at once. */
  jitterMs: number
  random?: () => number
}

/**
 * Spreads connection attempts per host: thousands of accounts on one server must not stampede after it restarts.
 * What a person waits for goes before the crowd and without jitter.
 */
export interface Pacing {
  run<T>(host: string, urgent: boolean, signal: AbortSignal, attempt: () => Promise<T>): Promise<T>
}

interface Lane {
  running: number
  urgent: (() => void)[]
  patient: (() => void)[]
}

export function pacing({ concurrent, jitterMs, random = Math.random }: PacingOptions): Pacing {
  const lanes = new Map<string, Lane>()

  function enter(host: string, urgent: boolean, signal: AbortSignal): Promise<Lane> {
    const lane = lanes.get(host) ?? { running: 0, urgent: [], patient: [] }
    lanes.set(host, lane)
    if (lane.running < concurrent) {
      lane.running += 1
      return Promise.resolve(lane)
    }
    return new Promise((resolve, reject) => {
      const queue = urgent ? lane.urgent : lane.patient
      const turn = () => {
        signal.removeEventListener('abort', giveUp)
        lane.running += 1
        resolve(lane)
      }
      const giveUp = () => {
        queue.splice(queue.indexOf(turn), 1)
        reject(signal.reason)
      }
      queue.push(turn)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  function leave(host: string, lane: Lane) {
    lane.running -= 1
    const next = lane.urgent.shift() ?? lane.patient.shift()
    if (next !== undefined) next()
    else if (lane.running === 0) lanes.delete(host)
  }

  return {
    async run(host, urgent, signal, attempt) {
      signal.throwIfAborted()
      const busy = lanes.has(host)
      const lane = await enter(host, urgent, signal)
      try {
        // The first of a quiet host goes at once; only a crowd is spread.
        if (!urgent && busy) await sleep(random() * jitterMs, signal)
        signal.throwIfAborted()
        return await attempt()
      } finally {
        leave(host, lane)
      }
    },
  }
}
