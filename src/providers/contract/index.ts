/**
 * The contract of every mailbox provider: the only terms in which the rest of the service knows mailboxes.
 * `folder-mailbox.ts` is for messages known by folder and UID (IMAP), `id-mailbox.ts` for messages with ids of their own
 * (Gmail, Graph). The conformance suites beside them run against every provider and every fake.
 */
export * from './backfill.ts'
export * from './calendar.ts'
export * from './calendar-edits.ts'
export * from './contact-edits.ts'
export { boundedBook, boundedContact, boundedGroup, isBirthday } from './contact-limits.ts'
export * from './contacts.ts'
export * from './drafts.ts'
export * from './edits.ts'
export * from './errors.ts'
export { boundedCalendar, boundedEvent } from './event-limits.ts'
export { assumedEnd, zonedTime } from './event-time.ts'
export * from './folder-mailbox.ts'
export * from './id-mailbox.ts'
export * from './login.ts'
export * from './message.ts'
export { daysOrTimes, mayBeDays, placeholderInstances, placeholderTimes } from './placeholder.ts'
export * from './provider.ts'
export * from './push.ts'
export { mergeRanges } from './ranges.ts'
export * from './scopes.ts'
export * from './search.ts'
export * from './sending.ts'
export * from './tenant.ts'
