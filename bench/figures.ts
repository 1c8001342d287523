import { readFile } from 'node:fs/promises'

/** The percentile `p` (0 to 1) of the samples. NaN without samples. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? Number.NaN
}

/** `p50 1.2 · p95 3.4 · max 5.6 ms (n = 300)` */
export function spread(samples: readonly number[]): string {
  const [p50, p95, max] = [0.5, 0.95, 1].map((p) => percentile(samples, p).toFixed(1))
  return `p50 ${p50} · p95 ${p95} · max ${max} ms (n = ${samples.length})`
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

/** User and system time of a process so far. Linux counts them in hundredths of a second. */
export async function cpuMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5)
