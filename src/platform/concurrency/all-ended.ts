/** As `Promise.all`, but waits for all of them before it throws the first error, so that no work outlives the call. */
export async function allEnded<T>(works: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
