/** The CPU time that a piece of work took, whatever else the machine did meanwhile. */
export interface CpuWork {
  totalMs: number
  /** The longest turn of the event loop. */
  longestTurnMs: number
}

/** Includes the threads that collect garbage and compile. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Nothing else may run in the process meanwhile. */
export async function measureCpu(work: () => unknown): Promise<CpuWork> {
  let isOver = false
  let longestTurnMs = 0
  const startMs = cpuMs()
  let turnMs = startMs
  const endTurn = () => {
    const nowMs = cpuMs()
    longestTurnMs = Math.max(longestTurnMs, nowMs - turnMs)
    turnMs = nowMs
  }
  const watch = () => {
    if (isOver) return
    endTurn()
    setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  isOver = true
  endTurn()
  return { totalMs: turnMs - startMs, longestTurnMs }
}

/** CPU time of `probe` on the machine for which limits are written. */
const REFERENCE_MS = 10

/** How many times slower than the reference the machine is now; at least 1. */
export function slowness(): number {
  const times = [probe(), probe(), probe()]
  return Math.max(1, Math.min(...times) / REFERENCE_MS)
}

/** Some of what parsers do: cutting, matching, and collecting texts. */
function probe(): number {
  const startMs = cpuMs()
  const text = 'name=value; other="some text", 12345\r\n'.repeat(14_000)
  const found = new Map<string, number>()
  for (const line of text.split('\r\n')) {
    for (const [word] of line.matchAll(/[a-z]+|\d+/g)) found.set(word, (found.get(word) ?? 0) + word.length)
  }
  JSON.parse(JSON.stringify([...found, text]))
  return cpuMs() - startMs
}
