/** Runs the work and returns how many turns of the event loop began meanwhile, and how often a timer of 1 ms fired. */
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
