import type { Migration } from '../platform/db/index.ts'
import * as mainJob from './0001-main-job.ts'
import * as deduplication from './0002-deduplication.ts'
import * as circuit from './0003-circuit.ts'
import * as heldDeliveries from './0004-held-deliveries.ts'
import * as messagesById from './0005-mails-by-id.ts'
import * as oauth from './0006-oauth.ts'
import * as push from './0007-push.ts'
import * as syncRequests from './0008-sync-requests.ts'
import * as jobs from './0009-jobs.ts'
import * as ownedAccounts from './0010-owned-accounts.ts'
import * as messageTexts from './0011-message-texts.ts'
import * as limitViolations from './0012-limit-violations.ts'
import * as sessionLocale from './0013-session-locale.ts'
import * as invitedEmail from './0014-invited-email.ts'
import * as apiChanges from './0015-api-changes.ts'
import * as labelChanges from './0016-label-changes.ts'
import * as reservedMessages from './0017-reserved-messages.ts'
import * as outbox from './0018-outbox.ts'
import * as search from './0019-search.ts'
import * as threads from './0020-threads.ts'
import * as drafts from './0021-drafts.ts'
import * as draftRequests from './0022-draft-requests.ts'
import * as tracking from './0023-tracking.ts'
import * as sentDrafts from './0024-sent-drafts.ts'
import * as bounces from './0025-bounces.ts'
import * as threadReferences from './0027-thread-references.ts'
import * as dataVersion from './0028-data-version.ts'
import * as calendars from './0029-calendars.ts'
import * as busyInstances from './0031-busy-instances.ts'
import * as calendarWindow from './0032-calendar-window.ts'
import * as calendarChanges from './0033-calendar-changes.ts'
import * as mailHorizons from './0035-mail-horizons.ts'
import * as calendarLists from './0036-calendar-lists.ts'
import * as calendarSubscriptions from './0037-calendar-subscriptions.ts'
import * as calendarGaps from './0038-calendar-gaps.ts'
import * as scheduler from './0039-scheduler.ts'
import * as bookingLists from './0040-booking-lists.ts'
import * as bookingCodes from './0041-booking-codes.ts'
import * as backfill from './0042-backfill.ts'
import * as instanceLocks from './0043-instance-locks.ts'
import * as keysAndAudit from './0044-keys-and-audit.ts'
import * as adminSessions from './0045-admin-sessions.ts'
import * as instanceKeys from './0046-instance-keys.ts'
import * as lists from './0047-lists.ts'
import * as accountSearch from './0048-account-search.ts'
import * as cheaperBursts from './0049-cheaper-bursts.ts'
import * as confirmations from './0050-confirmations.ts'
import * as strangers from './0051-strangers.ts'
import * as secondAttempts from './0052-second-attempts.ts'
import * as floatingTimes from './0053-floating-times.ts'
import * as unreadableEvents from './0054-unreadable-events.ts'
import * as internalReasons from './0055-internal-reasons.ts'
import * as unreadableItems from './0056-unreadable-items.ts'
import * as failingCalendars from './0059-failing-calendars.ts'
import * as sentCopies from './0061-sent-copies.ts'
import * as deliveryTraces from './0062-delivery-traces.ts'
import * as refusedEvents from './0063-refused-events.ts'
import * as backfillLosses from './0064-backfill-losses.ts'

/** Every migration, in order. Add new ones at the end; never change a released one. */
export const migrations: readonly Migration[] = [
  mainJob,
  deduplication,
  circuit,
  heldDeliveries,
  messagesById,
  oauth,
  push,
  syncRequests,
  jobs,
  ownedAccounts,
  messageTexts,
  limitViolations,
  sessionLocale,
  invitedEmail,
  apiChanges,
  labelChanges,
  reservedMessages,
  outbox,
  search,
  threads,
  drafts,
  draftRequests,
  tracking,
  sentDrafts,
  bounces,
  threadReferences,
  dataVersion,
  calendars,
  busyInstances,
  calendarWindow,
  calendarChanges,
  mailHorizons,
  calendarLists,
  calendarSubscriptions,
  calendarGaps,
  scheduler,
  bookingLists,
  bookingCodes,
  keysAndAudit,
  adminSessions,
  instanceLocks,
  backfill,
  instanceKeys,
  lists,
  accountSearch,
  cheaperBursts,
  confirmations,
  strangers,
  secondAttempts,
  floatingTimes,
  unreadableEvents,
  internalReasons,
  unreadableItems,
  failingCalendars,
  sentCopies,
  deliveryTraces,
  refusedEvents,
  backfillLosses,
]
