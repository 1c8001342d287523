const MAX_ITEMS = 500

interface Waiting<T> {
  item: T
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Makes one write of what many callers ask for at once: an item goes out immediately when no write is under way, else
 * with all others in the next one. Each caller's promise settles with the write that carried its item.
 */
export function gather<T>(write: (items: readonly T[]) => Promise<void>): (item: T) => Promise<void> {
  const waiting: Waiting<T>[] = []
  let writing = false

  async function writeAll(): Promise<void> {
    writing = true
    await Promise.resolve() // Callers of the same tick travel together.
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_ITEMS)
      try {
        await write(batch.map(({ item }) => item))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    writing = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!writing) void writeAll()
    })
}
