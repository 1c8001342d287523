import { nextTurn } from './event-loop.ts'

/**
 * Combines the calls of many callers: items that arrive in one turn of the event loop, or while a batch is worked on, form the next
 * batch. Batches run one at a time, in call order. `work` returns one result for each item, in the same order; when it rejects, every
 * caller of the batch gets the error.
 */
export function batches<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  maxItems: number,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      await nextTurn()
      const batch = waiting.splice(0, maxItems)
      try {
        const results = await work(batch.map(({ item }) => item))
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isRunning = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isRunning) void run()
    })
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}
