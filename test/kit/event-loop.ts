/** Counts the turns of the event loop and the ticks of a 1 ms timer while `work` runs. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<{ turns: number; timers: number }> {
  let turns = 0
  let timers = 0
  const count = () => {
    turns += 1
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  const timer = setInterval(() => {
    timers += 1
  }, 1)
  try {
    await work()
  } finally {
    clearImmediate(immediate)
    clearInterval(timer)
  }
  return { turns, timers }
}
