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

/** Memory of a process in bytes. `shared`: pages that several processes use, such as those of Node's binary, count in part (Linux: PSS). */
export async function readMemory(pid: number): Promise<{ resident: number; shared: number }> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024
  return { resident: bytes('Rss'), shared: bytes('Pss') }
}

/** User and system time of a process so far. Linux counts them in hundredths of a second. */
export async function cpuMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5)
