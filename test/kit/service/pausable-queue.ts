import type { Queue } from '../../../src/platform/queue/index.ts'

/** A queue whose runs a test can hold before they start. */
export interface PausableQueue extends Queue {
  pause(queue: string): void
  resume(queue: string): void
}

export function pausableQueue(queue: Queue): PausableQueue {
  const paused = new Map<string, (() => void)[]>()
  return {
    ...queue,
    work: (name, options, run) =>
      queue.work(name, options, async (key, context) => {
        const waiting = paused.get(name)
        if (waiting !== undefined) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve)
            context.signal.addEventListener('abort', () => resolve())
          })
        }
        return run(key, context)
      }),
    pause(name) {
      if (!paused.has(name)) paused.set(name, [])
    },
    resume(name) {
      const waiting = paused.get(name) ?? []
      paused.delete(name)
      for (const resume of waiting) resume()
    },
  }
}
