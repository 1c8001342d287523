import { readFileSync } from 'node:fs'

const TICK_MS = 2
const NS_PER_MS = 1e6

export interface Held {
  /** The longest time without a turn of the event loop: CPU time and waits for the disk, not those for a core that others used. */
  heldMs: number
  /** The most CPU time of the main thread in one turn. */
  turnCpuMs: number
}

/** How long work held the event loop of this process at most. Nothing else may run in it meanwhile. Linux counts the times. */
export async function heldDuring(work: () => Promise<unknown>): Promise<Held> {
  const held = { heldMs: 0, turnCpuMs: 0 }
  let before = readTimes()
  const timer = setInterval(() => {
    const now = readTimes()
    held.heldMs = Math.max(held.heldMs, now.atMs - before.atMs - TICK_MS - (now.waitedMs - before.waitedMs))
    held.turnCpuMs = Math.max(held.turnCpuMs, now.cpuMs - before.cpuMs)
    before = now
  }, TICK_MS)
  try {
    await work()
    return held
  } finally {
    clearInterval(timer)
  }
}

function readTimes() {
  const [cpuNs, waitedNs] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
  return {
    atMs: performance.now(),
    cpuMs: Number(cpuNs) / NS_PER_MS,
    /** Ready to run, but without a core. */
    waitedMs: Number(waitedNs) / NS_PER_MS,
  }
}
