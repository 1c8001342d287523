import { cpuMs, readMemory } from '../../../bench/figures.ts'

/** One process of the service, from its start until it ended. */
export interface ProcessLife {
  name: string
  /** Memory (PSS) over time. */
  samples: { sinceStartMs: number; bytes: number }[]
  cpuMs: number
  lastedMs: number
}

export interface LifeWatch {
  readonly lives: readonly ProcessLife[]
  /** The lives that have not ended. */
  running(): ProcessLife[]
  /** Begins a life. Returns what ends it. */
  watch(name: string, pid: number): () => void
  stop(): void
}

const MB = 1024 * 1024
const HOUR_MS = 3_600_000

export function watchLives(everyMs: number): LifeWatch {
  const lives: ProcessLife[] = []
  const timers = new Map<ProcessLife, NodeJS.Timeout>()
  return {
    lives,
    running: () => [...timers.keys()],
    watch(name, pid) {
      const life: ProcessLife = { name, samples: [], cpuMs: 0, lastedMs: 0 }
      const startedMs = performance.now()
      const sample = async () => {
        const { shared } = await readMemory(pid)
        // A process that was killed and is not yet reaped has none.
        if (!(shared > 0)) return
        life.cpuMs = await cpuMs(pid)
        life.lastedMs = performance.now() - startedMs
        life.samples.push({ sinceStartMs: life.lastedMs, bytes: shared })
      }
      // A process that has just ended cannot be read.
      const timer = setInterval(() => void sample().catch(() => {}), everyMs)
      timers.set(life, timer)
      lives.push(life)
      return () => {
        clearInterval(timer)
        timers.delete(life)
      }
    },
    stop() {
      for (const timer of timers.values()) clearInterval(timer)
    },
  }
}

/** How fast the memory of a process grows, by least squares. */
export interface MemorySlope {
  megabytesPerHour: number
  /** Half of the interval that contains the true slope with 95 %, if the samples were independent. */
  uncertainty: number
  samples: number
  overMinutes: number
}

/** Judges the samples after `fromMs`. Undefined where they last less than `leastMs`. */
export function memorySlope({ samples }: ProcessLife, fromMs: number, leastMs: number): MemorySlope | undefined {
  const points = samples
    .filter(({ sinceStartMs }) => sinceStartMs >= fromMs)
    .map(({ sinceStartMs, bytes }) => ({ x: sinceStartMs / HOUR_MS, y: bytes / MB }))
  const lastsMs = ((points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0)) * HOUR_MS
  if (points.length < 3 || lastsMs < leastMs) return undefined
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))]
  const spreadX = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spreadX
  const residuals = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0)
  return {
    megabytesPerHour: slope,
    uncertainty: 1.96 * Math.sqrt(residuals / (points.length - 2) / spreadX),
    samples: points.length,
    overMinutes: lastsMs / 60_000,
  }
}

/** Such as `kept: 71 min, 112 to 131 MB, last 118 MB, 3.1 % of a core`. */
export function describeLife({ name, samples, cpuMs, lastedMs }: ProcessLife): string {
  const sizes = samples.map(({ bytes }) => Math.round(bytes / MB))
  if (sizes.length === 0) return `${name}: ended before its first sample`
  const range = `${Math.min(...sizes)} to ${Math.max(...sizes)} MB, last ${sizes.at(-1)} MB`
  const share = ((100 * cpuMs) / lastedMs).toFixed(1)
  return `${name}: ${(lastedMs / 60_000).toFixed(1)} min, ${range}, ${share} % of a core`
}
