import { percentile } from '../../bench/figures.ts'
import type { ServiceProcess } from '../kit/process.ts'

/** Resident memory of one process over some time. */
export interface MemoryFigures {
  /** Medians of the first and the last quarter of the time. */
  earlyBytes: number
  lateBytes: number
  mostBytes: number
  /** By the straight line that fits all samples best, over the whole time. */
  growthBytes: number
}

interface Sample {
  atMs: number
  bytes: number
}

const SAMPLE_MS = 250

/** Samples until `stop`, which answers the figures of each process. */
export function watchMemory(processes: readonly ServiceProcess[]): { stop(): MemoryFigures[] } {
  const series = processes.map((): Sample[] => [])
  const timer = setInterval(() => {
    for (const [index, process] of processes.entries()) {
      void process.memoryBytes().then((bytes) => series[index]?.push({ atMs: performance.now(), bytes }))
    }
  }, SAMPLE_MS)
  return {
    stop() {
      clearInterval(timer)
      return series.map(figuresOf)
    },
  }
}

function figuresOf(samples: readonly Sample[]): MemoryFigures {
  const quarter = Math.ceil(samples.length / 4)
  const medianOf = (some: readonly Sample[]) =>
    percentile(
      some.map(({ bytes }) => bytes),
      0.5,
    )
  return {
    earlyBytes: medianOf(samples.slice(0, quarter)),
    lateBytes: medianOf(samples.slice(-quarter)),
    mostBytes: Math.max(...samples.map(({ bytes }) => bytes)),
    growthBytes: slope(samples) * ((samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)),
  }
}

function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const atMs = mean((one) => one.atMs)
  const bytes = mean((one) => one.bytes)
  const together = samples.reduce((sum, one) => sum + (one.atMs - atMs) * (one.bytes - bytes), 0)
  return together / samples.reduce((sum, one) => sum + (one.atMs - atMs) ** 2, 0)
}
