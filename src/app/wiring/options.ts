import type { OwnershipTiming } from '../../accounts/cluster/index.ts'
import type { TaskTiming } from '../../booking/index.ts'
import type { CalendarTiming } from '../../calendars/index.ts'
import type { ContactTiming } from '../../contacts/index.ts'
import type { SharedClaims } from '../../events/deduplication/index.ts'
import type { DuplicateFinder, ReadMessage, WebhookDeps } from '../../events/webhooks/index.ts'
import type { BackfillDeps } from '../../mail/backfill/index.ts'
import type { OutboxTiming } from '../../mail/outbox/index.ts'
import type { SearchDeps } from '../../mail/search/index.ts'
import type { SyncTiming } from '../../mail/sync/index.ts'
import type { MailProvider } from '../../providers/contract/index.ts'
import type { ImapLimits } from '../../providers/imap/index.ts'

/** Options that tests set and operators cannot: pace, limits, and parts in place of the real ones. */
export interface FeatureOptions {
  ownership?: Partial<OwnershipTiming>
  sync?: Partial<SyncTiming>
  calendars?: Partial<CalendarTiming>
  contacts?: Partial<ContactTiming>
  search?: Pick<SearchDeps, 'catchUpMs' | 'smallList' | 'sortLimit'>
  webhooks?: Pick<WebhookDeps, 'leaseMs' | 'maxRunMs' | 'sweepMs' | 'sendingThread'>
  backfill?: Pick<BackfillDeps, 'sweepMs'>
  imapLimits?: Partial<ImapLimits>
  /** Used in place of the mail side of every provider. */
  mail?: MailProvider
  outbox?: Partial<OutboxTiming>
  scheduler?: Partial<TaskTiming>
  readMessage?: ReadMessage
  claims?: SharedClaims
  duplicates?: DuplicateFinder
}
