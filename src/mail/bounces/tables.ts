import type { Selectable } from 'kysely'
import type { DeliveryReport } from '../../providers/shared/mime/index.ts'

/** A received message that looks like a report about a delivery. Added with the message, deleted once it was read. */
interface PendingReportTable {
  messageId: string
  accountId: string
  /** Number of failed reads. */
  attempts: number
  createdAt: number
}

/** The contents of a delivery report. */
interface BounceTable {
  reportMessageId: string
  accountId: string
  /** The message that was sent; null when the report does not name one that is known. */
  messageId: string | null
  kind: DeliveryReport['kind']
  /** JSON of `ReportedRecipient[]`. */
  recipients: string
  /** When the report arrived. */
  bouncedAt: number
}

export type BounceRow = Selectable<BounceTable>
export type PendingReport = Selectable<PendingReportTable>

declare module '../../platform/db/db.ts' {
  interface Tables {
    pendingReports: PendingReportTable
    bounces: BounceTable
  }
}
