import type { Generated } from 'kysely'
import type { ProviderName } from '../providers/contract/index.ts'

/** Written in the transaction of the change that it describes. Afterwards only `position` and `fanOut` change. */
interface EventTable {
  id: string
  type: string
  accountId: string | null
  provider: ProviderName | null
  /** Number of the event within its account, without gaps but those of `after-restore.ts`; null without an account. */
  sequence: number | null
  objectId: string | null
  /** Change counter of the object's row. */
  version: number | null
  /** `data` as cleaned JSON, at most 256 KB. */
  data: string
  /** Place in the global order, assigned by the fan-out; null before. Unique. */
  position: number | null
  /** 1: fanned out. 0: a test event, delivered by its caller. -1: withheld, never delivered or listed. */
  fanOut: Generated<number>
  createdAt: number
}

/** The last `sequence` assigned, one row per account. */
interface EventSequenceTable {
  accountId: string
  sequence: number
}

/** One row with the last `position` assigned. Its lock lets one replica fan out at a time. */
interface EventPositionTable {
  id: number
  position: number
  /** Number of events that have a position. */
  total: Generated<number>
}

declare module '../platform/db/db.ts' {
  interface Tables {
    events: EventTable
    eventSequences: EventSequenceTable
    eventPosition: EventPositionTable
  }
}
