import { percentile } from '../../bench/figures.ts'
import type { ServiceProcess } from '../kit/process.ts'

/** The memory of one process over some time. */
export interface MemoryFigures {
  /** What was in use after collecting garbage, at each look. */
  liveBytes: number[]
  /** Resident: medians of the first and the last quarter of the time, and the most. */
  earlyBytes: number
  lateBytes: number
  mostBytes: number
}

const SAMPLE_MS = 250

/** Samples what is resident until `stop`, which answers the figures of each process. They must run with `HEAP_PROBE`. */
export function watchMemory(processes: readonly ServiceProcess[]) {
  const watched = processes.map((process) => ({ process, live: [] as number[], resident: [] as number[] }))
  const timer = setInterval(() => {
    for (const { process, resident } of watched) void process.memoryBytes().then((bytes) => resident.push(bytes))
  }, SAMPLE_MS)
  return {
    /** Stops each process for a moment: not while anything is measured. */
    async look() {
      for (const { process, live } of watched) live.push(await process.heapBytesAfterGc())
    },
    stop(): MemoryFigures[] {
      clearInterval(timer)
      return watched.map(({ live, resident }) => figuresOf(live, resident))
    },
  }
}

function figuresOf(liveBytes: number[], resident: readonly number[]): MemoryFigures {
  const quarter = Math.ceil(resident.length / 4)
  return {
    liveBytes,
    earlyBytes: percentile(resident.slice(0, quarter), 0.5),
    lateBytes: percentile(resident.slice(-quarter), 0.5),
    mostBytes: Math.max(...resident),
  }
}
