/** A job to add. */
export interface Addition {
  queue: string
  key: string
  delayMs: number
}

const MAX_PER_WRITE = 500

interface Waiting<T> {
  addition: T
  resolve: (() => void)[]
  reject: ((error: unknown) => void)[]
}

/**
 * Combines the additions of many callers into few writes. An addition is written at once, or while a write runs, with the
 * next one. Holds only the earliest addition per queue and key, so slow writes cost little memory. A caller's promise
 * resolves or rejects with the write of its addition.
 */
export function batcher<T extends Addition>(write: (additions: readonly T[]) => Promise<void>) {
  const waiting = new Map<string, Waiting<T>>()
  let writing = false

  async function writeAll(): Promise<void> {
    writing = true
    await Promise.resolve() // Additions of the same tick share a write.
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, MAX_PER_WRITE)
      for (const [id] of batch) waiting.delete(id)
      try {
        await write(batch.map(([, { addition }]) => addition))
        for (const [, { resolve }] of batch) for (const done of resolve) done()
      } catch (error) {
        for (const [, { reject }] of batch) for (const fail of reject) fail(error)
      }
    }
    writing = false
  }

  return (addition: T): Promise<void> =>
    new Promise((resolve, reject) => {
      const id = `${addition.queue}\n${addition.key}`
      const entry = waiting.get(id) ?? { addition, resolve: [], reject: [] }
      if (addition.delayMs < entry.addition.delayMs) entry.addition = addition
      entry.resolve.push(resolve)
      entry.reject.push(reject)
      waiting.set(id, entry)
      if (!writing) void writeAll()
    })
}

/** A delay in whole, non-negative milliseconds, for timers and rows. */
export const wholeMs = (ms: number) => Math.max(0, Math.round(ms))

export function byQueue<T extends Addition>(additions: readonly T[]): Map<string, T[]> {
  const queues = new Map<string, T[]>()
  for (const addition of additions) {
    const ofQueue = queues.get(addition.queue)
    if (ofQueue === undefined) queues.set(addition.queue, [addition])
    else ofQueue.push(addition)
  }
  return queues
}
