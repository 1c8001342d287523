/** One subject of one lane; primary key (lane, subject). Kept when idle, so that its last run can be told. */
interface JobTable {
  lane: string
  subject: string
  state: 'idle' | 'waiting' | 'active'
  runAt: number
  /** 1 when it was added while it ran: run once more. */
  again: number
  attempts: number
  leaseUntil: number | null
  lease: string | null
  instanceId: string | null
  lastRunAt: number | null
  lastError: string | null
  completed: number
  failed: number
}

/** Lanes that are paused. */
interface JobLaneTable {
  lane: string
  paused: number
}

declare module '../db/db.ts' {
  interface Tables {
    jobs: JobTable
    jobLanes: JobLaneTable
  }
}
