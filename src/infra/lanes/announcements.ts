import type { Announcement } from './job-store.ts'

export const whole = (ms: number) => Math.max(0, Math.round(ms))

/** One entry per subject, with the earliest time it is asked for. */
export function earliest<T extends Announcement>(jobs: readonly T[]): T[] {
  const bySubject = new Map<string, T>()
  for (const job of jobs) {
    const key = `${job.lane}\n${job.subject}`
    const known = bySubject.get(key)
    if (known === undefined || job.delayMs < known.delayMs) bySubject.set(key, job)
  }
  return [...bySubject.values()]
}

export function byLane<T extends Announcement>(jobs: readonly T[]): Map<string, T[]> {
  const lanes = new Map<string, T[]>()
  for (const job of jobs) {
    const ofLane = lanes.get(job.lane) ?? []
    ofLane.push(job)
    lanes.set(job.lane, ofLane)
  }
  return lanes
}
