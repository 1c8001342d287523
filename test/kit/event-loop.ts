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

/** The share of `work`'s time that its longest turn of the event loop took, from 0 to 1. */
export async function longestTurnShare(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  const longestMs = await longestTurnMs(work)
  return longestMs / (performance.now() - startedMs)
}

/** The longest turn of the event loop while `work` runs. On a loaded machine this includes time in which other processes ran. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let turnMs = performance.now()
  let longestMs = 0
  const measure = () => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - turnMs)
    turnMs = nowMs
    immediate = setImmediate(measure)
  }
  let immediate = setImmediate(measure)
  try {
    await work()
  } finally {
    clearImmediate(immediate)
  }
  return longestMs
}
