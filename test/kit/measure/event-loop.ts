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

/** The CPU time of this process, all of its threads. Unlike time on a clock, it does not depend on what else the machine does. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The CPU time that `work` took. */
export async function spentCpuMs(work: () => unknown): Promise<number> {
  const beforeMs = cpuMs()
  await work()
  return cpuMs() - beforeMs
}

/** The share of `work`'s CPU time that its longest turn of the event loop took, from 0 to 1. */
export async function longestTurnShare(work: () => Promise<unknown>): Promise<number> {
  const startedMs = cpuMs()
  const longestMs = await longestTurnMs(work)
  return longestMs / (cpuMs() - startedMs)
}

/** The CPU time of the longest turn of the event loop while `work` runs. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let turnMs = cpuMs()
  let longestMs = 0
  const measure = () => {
    const nowMs = cpuMs()
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
