import type { Generated } from 'kysely'
import type { ProviderName } from '../providers/contract/index.ts'

/** One thing that happened, stored in the transaction that made it happen, never changed but for `position`. */
interface EventTable {
  id: string
  type: string
  accountId: string | null
  provider: ProviderName | null
  /** Counts per account, without gaps; null without account. */
  sequence: number | null
  objectId: string | null
  /** The change counter of the object's row. */
  version: number | null
  /** JSON of `data`, cleaned, at most 256 KB. */
  data: string
  /** Global order, stamped by the fan-out; null until then. Unique. */
  position: number | null
  /** 0 for test events, which are delivered directly and never fanned out; -1 for those that nobody may hear of any more. */
  fanOut: Generated<number>
  createdAt: number
}

/** The last `sequence` given, one row per account. */
interface EventSequenceTable {
  accountId: string
  sequence: number
}

/** The last `position` given: one row; its lock makes the fan-out one at a time over all replicas. */
interface EventPositionTable {
  id: number
  position: number
  /** Events that have a position. */
  total: Generated<number>
}

declare module '../infra/db/db.ts' {
  interface Tables {
    events: EventTable
    eventSequences: EventSequenceTable
    eventPosition: EventPositionTable
  }
}
