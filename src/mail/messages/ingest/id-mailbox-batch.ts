import type { FoundMessage, MailboxStep } from '../../../providers/contract/index.ts'
import type { FolderCounts, LabelRow } from '../../labels/index.ts'
import { type EventBodies, labelledEvent } from '../announce.ts'
import type { MessageEventType } from '../event-types.ts'
import { chooseLocation, type Location } from '../rows/label-location.ts'
import { allMail, type MessageRow } from '../store.ts'
import type { Batch, SyncRead } from './batch.ts'

/** The current state of a message at the provider. Absent members did not change. */
export type RemoteState = MailboxStep['changed'][number]

/** How a message is stored that could not be read before. */
interface Repair {
  /** It is stored without content, and was not announced. */
  announces: boolean
  isAutomatic: boolean
}

/** The result of reading a folder, or a mailbox, whose messages have ids. */
export interface MailboxRead extends SyncRead {
  /** The folder. Undefined when the entire mailbox is one scope and messages have many labels. */
  scope: LabelRow | undefined
  /** The labels of the account, by provider id. */
  labels: ReadonlyMap<string, LabelRow>
  /** Messages that left the scope. If it is a folder, they may be found in another one, or have been already. */
  removed?: readonly string[]
  /** Ignored for unknown messages, and for missing ones, which come back only as complete messages. */
  changed?: readonly RemoteState[]
  /** Complete messages. */
  found?: readonly FoundMessage[]
  /** Set when `found` could not be read before. */
  repair?: Repair | undefined
  /** Bodies for events, by provider message id. Empty unless events include bodies. */
  bodies: ReadonlyMap<string, EventBodies>
}

export interface MailboxBatch extends Batch<MailboxRead> {
  byId: ReadonlyMap<string, LabelRow>
  /** The ids of messages that are stored as they were read. */
  confirmed: string[]
  /** Messages, where `changes` counts them once per label. */
  totals: FolderCounts
}

/** Skips labels that no listing contained. */
export function knownLabelIds({ read }: Pick<MailboxBatch, 'read'>, paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => read.labels.get(path)?.id ?? []))]
}

/** The location of a message with these labels. */
export function locationAt({ read, byId }: Pick<MailboxBatch, 'read' | 'byId'>, labelIds: readonly string[]): Location {
  const labels = labelIds.flatMap((id) => byId.get(id) ?? [])
  return chooseLocation(labels, read.scope === undefined)
}

/** The labels, and that of all mail where lists of all messages include the message. */
export function listedLabels(accountId: string, labelIds: readonly string[], { isListed }: Location): string[] {
  return isListed ? [...labelIds, allMail(accountId)] : [...labelIds]
}

export function mailboxEvent(
  { read, byId }: MailboxBatch,
  type: MessageEventType,
  row: MessageRow,
  labelIds: readonly string[],
) {
  const folder = byId.get(row.folderId ?? '')?.name ?? null
  const body = read.bodies.get(row.providerMessageId)
  return labelledEvent(type, row, { provider: read.provider, labelIds: [...labelIds], folder }, body)
}
