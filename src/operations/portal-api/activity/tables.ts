/** See `latency.ts` for the names of latencies. */
export type ActivityName = 'received' | 'sent' | 'booked' | 'delivered' | 'failed' | `latency.${number}`

interface ActivityCountsTable {
  /** The start of the hour, in UTC. */
  hour: number
  name: ActivityName
  amount: number
}

declare module '../../../platform/db/db.ts' {
  interface Tables {
    activityCounts: ActivityCountsTable
  }
}
