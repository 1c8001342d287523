/** One subject of one lane; primary key (lane, subject). Kept when idle, so that its last run can be told. */
interface JobTable {
  lane: string
  subject: string
  state: 'idle' | 'waiting' | 'active'
  runAt: number
  /** While it runs: 1 when it was added meanwhile (run once more), 2 when it was removed meanwhile (forget it then). */
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

/** What is known of a lane beside its subjects. */
interface JobLaneTable {
  lane: string
  paused: number
  /** What subjects that were removed had counted. */
  completed: number
  failed: number
}

declare module '../db/db.ts' {
  interface Tables {
    laneJobs: JobTable
    jobLanes: JobLaneTable
  }
}
