/**
 * The items of a source. The next one is requested while the caller works with the current one, so that waiting and work overlap. A
 * caller that leaves early waits for the request that has begun.
 */
export async function* readAhead<T>(source: AsyncIterable<T>): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]()
  const request = () => {
    const next = iterator.next()
    // Thrown when the caller comes to it.
    next.catch(() => {})
    return next
  }
  let next = request()
  try {
    for (let item = await next; item.done !== true; item = await next) {
      next = request()
      yield item.value
    }
  } finally {
    await next.catch(() => {})
    await iterator.return?.()
  }
}
