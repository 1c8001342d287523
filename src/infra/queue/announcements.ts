import type { Announcement } from './job-store.ts'

export const whole = (ms: number) => Math.max(0, Math.round(ms))

/** One entry per subject, with the earliest time it is asked for. */
export function earliest(jobs: readonly Announcement[]): Announcement[] {
  const bySubject = new Map<string, Announcement>()
  for (const job of jobs) {
    const key = `${job.lane}\n${job.subject}`
    const known = bySubject.get(key)
    if (known === undefined || job.delayMs < known.delayMs) bySubject.set(key, job)
  }
  return [...bySubject.values()]
}

export function byLane(jobs: readonly Announcement[]): Map<string, Announcement[]> {
  const lanes = new Map<string, Announcement[]>()
  for (const job of jobs) {
    const ofLane = lanes.get(job.lane) ?? []
    ofLane.push(job)
    lanes.set(job.lane, ofLane)
  }
  return lanes
}
