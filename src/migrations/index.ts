import type { Migration } from '../platform/db/index.ts'
import * as platform from './0001-platform.ts'
import * as accounts from './0002-accounts.ts'
import * as mail from './0003-mail.ts'
import * as calendars from './0004-calendars.ts'
import * as booking from './0005-booking.ts'
import * as events from './0006-events.ts'
import * as operations from './0007-operations.ts'
import * as sessionFailureReason from './0008-session-failure-reason.ts'
import * as activity from './0009-activity.ts'
import * as sentCopyError from './0010-expand-sent-copy-error.ts'
import * as connections from './0011-expand-connections.ts'
import * as contacts from './0012-expand-contacts.ts'
import * as chosenFolders from './0013-expand-chosen-folders.ts'
import * as sharedMailboxes from './0014-expand-shared-mailboxes.ts'
import * as correspondents from './0015-expand-correspondents.ts'
import * as contactGroupChanges from './0016-expand-contact-group-changes.ts'
import * as contactsByUid from './0017-expand-contacts-by-uid.ts'
import * as ownedAccounts from './0018-expand-owned-accounts.ts'

/**
 * Every migration, in order. The first seven are the schema of the first release, one per domain: each table with who writes it, what it
 * promises, and when its rows are deleted. Add new ones at the end, and never change one that is released.
 * Replicas of the version before run beside this one: a migration adds, and its name says so (`0010-expand-…`); what it replaces is
 * removed a minor version later (docs/versioning.md). Both engines use the same
 * types: text for ids and JSON, bigint for times and counters, integer for booleans.
 */
export const migrations: readonly Migration[] = [
  platform,
  accounts,
  mail,
  calendars,
  booking,
  events,
  operations,
  sessionFailureReason,
  activity,
  sentCopyError,
  connections,
  contacts,
  chosenFolders,
  sharedMailboxes,
  correspondents,
  contactGroupChanges,
  contactsByUid,
  ownedAccounts,
]
