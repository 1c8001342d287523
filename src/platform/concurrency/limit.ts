/** Runs `work` when fewer than the maximum run, in the order of the calls. A failure is the caller's and changes nothing for the others. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>

export function concurrencyLimit(max: number): Limit {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < max) running += 1
    // The one that ends passes its turn on.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
