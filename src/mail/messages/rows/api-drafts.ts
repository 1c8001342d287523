import { numberApiChange } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { MessageBody, RemoteDraft } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { putBody } from '../bodies/store.ts'
import { takeReserved } from '../ingest/reserved.ts'
import { allMail, type MessageRow, messageStore } from '../store.ts'
import { type ApiChangeContext, changeEvents } from './api-changes.ts'
import { saveDraftKeys } from './draft-keys.ts'
import { locatedMessages } from './located-messages.ts'
import { hasNewContent, type IncomingRow, incomingRow, locationAndFlags, newMessageRow, pickContent } from './row.ts'
import { messageWriter } from './writer.ts'

export interface DraftContext extends ApiChangeContext {
  /** The label with the role `drafts`. */
  folder: LabelRow
}

/**
 * Stores a draft that the provider has saved, as sync would: row, labels, counters and events. Whichever of the two commits first
 * records the events; the other finds nothing to do. Call it after `accounts.hold`. `draft` is the row that the request began with, or
 * the reserved id of a new draft. `body` is what was saved, in case the provider returns it in other words. Undefined, with nothing
 * stored, when sync has stored another version meanwhile, or deleted the draft: that is newer, as far as anybody knows.
 */
export async function storeDraft(
  tx: Tx,
  context: DraftContext,
  draft: { newId: string },
  remote: RemoteDraft,
  body?: MessageBody,
): Promise<MessageRow>
export async function storeDraft(
  tx: Tx,
  context: DraftContext,
  draft: MessageRow,
  remote: RemoteDraft,
  body?: MessageBody,
): Promise<MessageRow | undefined>
export async function storeDraft(
  tx: Tx,
  context: DraftContext,
  draft: MessageRow | { newId: string },
  { message, folders }: RemoteDraft,
  body?: MessageBody,
): Promise<MessageRow | undefined> {
  const { accountId, provider, folder, nowMs } = context
  const store = messageStore(tx)
  const changes = changeEvents(context)
  const labelIds = context.labels.filter(({ providerId }) => folders.includes(providerId)).map(({ id }) => id)
  const incoming = incomingRow(message, { accountId, labelId: provider === 'imap' ? folder.id : '', nowMs })
  const messageId = 'newId' in draft ? draft.newId : draft.id
  const [before] = await store.byIds([messageId])
  const isChanged = before === undefined || before.folderId !== folder.id || isNewVersion(before, incoming)
  if (isChanged && 'id' in draft && before?.version !== draft.version) return undefined
  const fresh = newMessageRow(incoming, { accountId, labelId: folder.id, id: messageId, nowMs })
  const row = !isChanged ? before : { ...(before === undefined ? fresh : nextVersion(before, incoming, context)) }
  if (isChanged) {
    row.apiChange = await numberApiChange(tx, accountId)
    const writer = messageWriter(tx, context)
    const listedIn = provider === 'imap' ? labelIds : [...labelIds, allMail(accountId)]
    // Sync may have stored a draft without a Message-ID as another one.
    await writer.remove((await idsAt(tx, row)).filter((id) => id !== messageId))
    if (before === undefined) {
      await takeReserved(tx, accountId, [{ message, roles: ['drafts'] }])
      const [stored] = await writer.insert([row], () => listedIn)
      row.threadId = stored?.threadId ?? null
      changes.created('draft.created', row, labelIds)
    } else {
      const labelsBefore = (await store.labelIds([messageId])).get(messageId) ?? []
      await writer.update([{ row, labelIds: listedIn, rewritten: true }])
      changes.changed(before, row, labelsBefore, labelIds)
    }
    await changes.record(tx)
  }
  await saveDraftKeys(tx, accountId, [{ messageId, message }])
  if (body !== undefined) await putBody(tx, accountId, messageId, body)
  return row
}

function nextVersion(before: MessageRow, incoming: IncomingRow, { folder, nowMs }: DraftContext): MessageRow {
  return {
    ...before,
    ...pickContent(incoming),
    ...locationAndFlags(incoming),
    emailIdHash: incoming.emailIdHash,
    folderId: folder.id,
    goneAt: null,
    threadId: incoming.threadId ?? before.threadId,
    version: before.version + 1,
    updatedAt: nowMs,
  }
}

const LOCATION = ['uidValidity', 'uid', 'providerMessageId', 'unread', 'starred'] as const

function isNewVersion(row: MessageRow, incoming: IncomingRow): boolean {
  const isSamePlace = row.goneAt === null && LOCATION.every((column) => row[column] === incoming[column])
  return !isSamePlace || hasNewContent(row, incoming)
}

async function idsAt(tx: Tx, row: MessageRow): Promise<string[]> {
  const { accountId, folderId, uidValidity, uid, providerMessageId } = row
  if (folderId !== null && uidValidity !== null && uid !== null)
    return locatedMessages(tx).idsByLocation(folderId, uidValidity, [uid])
  return (await messageStore(tx).byProviderIds(accountId, [providerMessageId])).map(({ id }) => id)
}
