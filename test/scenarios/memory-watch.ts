import { percentile } from '../../bench/figures.ts'
import type { ServiceProcess } from '../kit/service/process.ts'

/** The memory of one process over some time. */
export interface MemoryFigures {
  /** Heap after garbage collection, one value per `measureHeap`. */
  heapBytes: number[]
  /** Resident memory: median of the first quarter, median of the last, maximum. */
  earlyBytes: number
  lateBytes: number
  maxBytes: number
}

const SAMPLE_MS = 250

/** Samples resident memory until `stop`, which returns the figures of each process. The processes need `HEAP_PROBE`. */
export function watchMemory(processes: readonly ServiceProcess[]) {
  const watched = processes.map((process) => ({ process, heap: [] as number[], resident: [] as number[] }))
  const timer = setInterval(() => {
    for (const { process, resident } of watched) void process.memoryBytes().then((bytes) => resident.push(bytes))
  }, SAMPLE_MS)
  return {
    /** Pauses each process briefly, so never call it during a measurement. */
    async measureHeap() {
      for (const { process, heap } of watched) heap.push(await process.heapBytesAfterGc())
    },
    stop(): MemoryFigures[] {
      clearInterval(timer)
      return watched.map(({ heap, resident }) => summariseFigures(heap, resident))
    },
  }
}

function summariseFigures(heapBytes: number[], resident: readonly number[]): MemoryFigures {
  const quarter = Math.ceil(resident.length / 4)
  return {
    heapBytes,
    earlyBytes: percentile(resident.slice(0, quarter), 0.5),
    lateBytes: percentile(resident.slice(-quarter), 0.5),
    maxBytes: Math.max(...resident),
  }
}
