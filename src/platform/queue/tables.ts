/** A job that waits (`lease` is null) or runs; deleted when its run ends and nothing is left to do. Key: (queue, key). */
interface JobTable {
  queue: string
  key: string
  /** While it runs: when to run once more, if `again` is 1. */
  runAt: number
  again: number
  /** Failed runs in a row. */
  failures: number
  lease: string | null
  leaseUntil: number | null
  instanceId: string | null
}

declare module '../db/db.ts' {
  interface Tables {
    jobs: JobTable
  }
}
