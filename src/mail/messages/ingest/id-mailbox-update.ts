import { StaleRead } from '../../../accounts/index.ts'
import { arrivalEvent } from '../announce.ts'
import { arrivalType, changeTypes } from '../event-types.ts'
import type { Location } from '../rows/label-location.ts'
import { hasNewContent, type IncomingRow, pickContent } from '../rows/row.ts'
import type { MessageUpdate } from '../rows/writer.ts'
import type { MessageRow } from '../store.ts'
import { isStale } from './batch.ts'
import { countRelabelled } from './events-and-counts.ts'
import {
  knownLabelIds,
  listedLabels,
  locationAt,
  type MailboxBatch,
  mailboxEvent,
  type RemoteState,
} from './id-mailbox-batch.ts'

/**
 * Returns the new state of a stored message, and adds its counts and events to the batch. Undefined when nothing changed. `incoming`: the
 * complete message, if it was read. Throws `StaleRead`.
 */
export function updateMessage(
  batch: MailboxBatch,
  row: MessageRow,
  labelsBefore: readonly string[],
  remote: RemoteState,
  incoming?: IncomingRow,
): MessageUpdate | undefined {
  const { read, nowMs, changes, confirmed, totals } = batch
  const labelIds = remote.folders === undefined ? labelsBefore : knownLabelIds(batch, remote.folders)
  const location = locationAt(batch, labelIds)
  const now = {
    providerMessageId: incoming?.providerMessageId ?? row.providerMessageId,
    folderId: location.folder?.id ?? null,
    threadId: incoming?.threadId ?? row.threadId,
    unread: remote.unread === undefined ? row.unread : Number(remote.unread),
    starred: remote.starred === undefined ? row.starred : Number(remote.starred),
  }
  const isFoundAgain = row.goneAt !== null
  const labelsChanged = !isFoundAgain && !haveSameMembers(labelsBefore, labelIds)
  const content =
    incoming !== undefined && hasOtherContent(batch, row, incoming, location) ? pickContent(incoming) : undefined
  const isVisible =
    row.folderId !== now.folderId ||
    labelsChanged ||
    content !== undefined ||
    row.unread !== now.unread ||
    row.starred !== now.starred ||
    row.threadId !== now.threadId
  if (!isVisible && !isFoundAgain) {
    confirmed.push(row.id)
    return undefined
  }
  if (isStale(batch, row)) throw new StaleRead()
  const after: MessageRow = {
    ...row,
    ...content,
    ...now,
    goneAt: null,
    ...(isVisible && { version: row.version + 1, updatedAt: nowMs }),
  }
  totals.updated += 1
  countRelabelled(changes, isFoundAgain ? [] : labelsBefore, labelIds, isVisible)
  if (isVisible) announce(batch, row, after, labelIds, location)
  const touchesLabels =
    isFoundAgain || labelsChanged || content !== undefined || row.unread !== now.unread || row.threadId !== now.threadId
  return {
    row: after,
    rewritten: content !== undefined,
    ...(touchesLabels && { labelIds: listedLabels(read.accountId, labelIds, location) }),
  }
}

/** Only drafts change their content, and a draft becomes the sent message. */
function hasOtherContent(
  { read, byId }: MailboxBatch,
  row: MessageRow,
  incoming: IncomingRow,
  { folder }: Location,
): boolean {
  if (incoming.providerMessageId !== row.providerMessageId) return true
  const isDraft = byId.get(row.folderId ?? '')?.role === 'drafts' || folder?.role === 'drafts'
  const isRepaired = read.repair !== undefined && row.error !== null && incoming.error === null
  return (isDraft || isRepaired) && hasNewContent(row, incoming)
}

function announce(
  batch: MailboxBatch,
  before: MessageRow,
  after: MessageRow,
  labelIds: readonly string[],
  { folder }: Location,
): void {
  const { repair } = batch.read
  const { events } = batch.changes
  const role = folder?.role ?? null
  const arrival = repair?.announces ? arrivalType(role) : undefined
  if (arrival !== undefined) {
    events.push(arrivalEvent(mailboxEvent(batch, arrival, after, labelIds), repair?.isAutomatic === true))
    return
  }
  const roleBefore = batch.byId.get(before.folderId ?? '')?.role ?? null
  for (const type of changeTypes(roleBefore, role)) events.push(mailboxEvent(batch, type, after, labelIds))
}

function haveSameMembers(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((member) => others.includes(member))
}
