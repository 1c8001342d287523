/**
 * The items of a source. The next ones, `depth` at most, are requested while the caller works with the current one, so that waiting and
 * work overlap. A caller that leaves early waits for the requests that have begun.
 */
export async function* readAhead<T>(source: AsyncIterable<T>, depth = 1): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]()
  const requested: Promise<IteratorResult<T>>[] = []
  const request = () => {
    const next = iterator.next()
    // Thrown when the caller comes to it.
    next.catch(() => {})
    requested.push(next)
  }
  try {
    for (let first = 0; first < depth; first += 1) request()
    for (let item = await requested.shift(); item?.done === false; item = await requested.shift()) {
      request()
      yield item.value
    }
  } finally {
    await Promise.allSettled(requested)
    await iterator.return?.()
  }
}
