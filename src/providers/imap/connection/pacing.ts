import { sleep } from '../../../platform/concurrency/abort.ts'

interface PacingOptions {
  /** Connection attempts in progress at one host. */
  concurrent: number
  /** The upper bound of the random delay of attempts that no caller waits for. */
  jitterMs: number
  random?: () => number
}

/**
 * Spreads connection attempts per host, so that thousands of accounts do not overload a server after it restarts. Urgent attempts go
 * first and without delay.
 */
export interface Pacing {
  run<T>(host: string, urgent: boolean, signal: AbortSignal, attempt: () => Promise<T>): Promise<T>
}

interface Host {
  running: number
  urgent: (() => void)[]
  normal: (() => void)[]
}

export function pacing({ concurrent, jitterMs, random = Math.random }: PacingOptions): Pacing {
  const hosts = new Map<string, Host>()

  function acquire(name: string, urgent: boolean, signal: AbortSignal): Promise<Host> {
    const host = hosts.get(name) ?? { running: 0, urgent: [], normal: [] }
    hosts.set(name, host)
    if (host.running < concurrent) {
      host.running += 1
      return Promise.resolve(host)
    }
    return new Promise((resolve, reject) => {
      const queue = urgent ? host.urgent : host.normal
      const start = () => {
        signal.removeEventListener('abort', giveUp)
        host.running += 1
        resolve(host)
      }
      const giveUp = () => {
        queue.splice(queue.indexOf(start), 1)
        reject(signal.reason)
      }
      queue.push(start)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  function release(name: string, host: Host) {
    host.running -= 1
    const next = host.urgent.shift() ?? host.normal.shift()
    if (next !== undefined) next()
    else if (host.running === 0) hosts.delete(name)
  }

  return {
    async run(name, urgent, signal, attempt) {
      signal.throwIfAborted()
      const isBusy = hosts.has(name)
      const host = await acquire(name, urgent, signal)
      try {
        // The first attempt at a host starts at once.
        if (!urgent && isBusy) await sleep(random() * jitterMs, signal)
        signal.throwIfAborted()
        return await attempt()
      } finally {
        release(name, host)
      }
    },
  }
}
