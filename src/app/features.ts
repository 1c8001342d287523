import { readSyncHealth } from '../mail/sync/index.ts'
import { readFigures } from '../operations/metrics/index.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { RuntimeContext } from './runtime-context.ts'
import type { Part } from './start-stop.ts'
import { openAccounts } from './wiring/accounts.ts'
import { openBooking } from './wiring/booking.ts'
import { openCalendars } from './wiring/calendars.ts'
import { openContacts } from './wiring/contacts.ts'
import { openDeletion } from './wiring/deletion.ts'
import { openEvents } from './wiring/events.ts'
import { openMessages, openPush, openSending, openSync } from './wiring/mail.ts'
import { openOperations } from './wiring/operations.ts'
import type { FeatureOptions } from './wiring/options.ts'
import { sharedDeps } from './wiring/shared.ts'

export type Features = ReturnType<typeof openFeatures>

/**
 * Makes every feature with the features that it needs, which are those before it. Nothing runs until the parts are started. What
 * features declare, such as tables and event types, is in `feature-list.ts`.
 */
export function openFeatures(context: RuntimeContext, infrastructure: Infrastructure, options: FeatureOptions = {}) {
  const shared = sharedDeps(context, infrastructure)
  const operations = openOperations(context, infrastructure, shared)
  const accounts = openAccounts(infrastructure, shared, operations, options)
  const push = openPush(shared, accounts)
  const messages = openMessages(shared, accounts, options)
  const sending = openSending(shared, { ...accounts, ...messages }, options)
  const sync = openSync(shared, { ...operations, ...accounts, ...push, ...messages, ...sending }, options)
  const calendars = openCalendars(shared, accounts, options)
  const contacts = openContacts(shared, accounts, options)
  const booking = openBooking(shared, { ...accounts, ...calendars, ...sending }, options)
  const events = openEvents(infrastructure, shared, { ...operations, ...messages }, options)
  const deletion = openDeletion(shared, { ...accounts, ...push, ...messages, ...calendars })

  const { db, clock } = shared
  const syncHealth = () => readSyncHealth({ db, ownership: accounts.ownership, sync: sync.sync })
  const figures = () => readFigures({ db, clock, syncHealth })
  operations.metrics.observe({
    ownership: accounts.ownership,
    eventLoop: operations.eventLoop,
    figures,
    syncTotals: () => sync.sync.totals(),
    droppedLogRecords: context.droppedLogRecords,
  })

  /** In start order: sync and push subscribe before the first changes of ownership. */
  const parts: readonly Part[] = [
    ...operations.operationParts,
    ...accounts.providerParts,
    ...events.eventParts,
    ...deletion.deletionParts,
    ...messages.messageParts,
    ...sending.sendingParts,
    ...booking.bookingParts,
    ...sync.syncParts,
    ...calendars.calendarParts,
    ...contacts.contactParts,
    ...push.pushParts,
    ...accounts.ownershipParts,
  ]
  return {
    shared,
    events: shared.events,
    ...operations,
    ...accounts,
    ...push,
    ...messages,
    ...sending,
    ...sync,
    ...calendars,
    ...contacts,
    ...booking,
    ...events,
    syncHealth,
    figures,
    parts,
  }
}
