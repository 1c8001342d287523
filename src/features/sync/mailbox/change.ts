import type { NewEvent } from '../../../events/index.ts'
import type { Tx } from '../../../infra/db/index.ts'
import type { FoundMessage, MailboxStep } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import {
  allMail,
  type IncomingRow,
  incomingRow,
  type MessageRow,
  type MessageUpdate,
  messageStore,
  messageWriter,
  newMessageRow,
} from '../../messages/index.ts'
import {
  arrivalType,
  type EventBodies,
  type FolderCounts,
  folderEvent,
  isNewArrival,
  labelledEvent,
  type MessageEventType,
} from '../announce.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { warnIncomplete } from '../folders/change.ts'
import type { CursorRow } from '../store.ts'
import { type Standing, standingOf } from './location.ts'

export interface MailboxContext extends OwnedAccount {
  /** The folder that is brought forward; undefined where the mailbox is one scope and its mails carry many labels. */
  scope: LabelRow | undefined
  /** Every label of the account, by the provider's id. */
  labels: ReadonlyMap<string, LabelRow>
  /** Bodies for events, by the provider's id of the mail; empty unless they are wanted. */
  bodies: ReadonlyMap<string, EventBodies>
}

/** What the provider says of a mail now; what is absent is as before. */
type Told = MailboxStep['changed'][number]

/**
 * What one part of a step changes in a mailbox whose mails have ids of their own, collected while it is stored: rows, labels, the
 * counts for `mailbox.changed`, and the events, which `record` writes at the end.
 */
export function mailboxChange(deps: SyncDeps, tx: Tx, context: MailboxContext) {
  const { accountId, provider, scope } = context
  const nowMs = deps.clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs })
  const byId = new Map([...context.labels.values()].map((label) => [label.id, label]))
  const counts = new Map<string, FolderCounts>()
  const events: NewEvent[] = []

  const standing = (labelIds: readonly string[]): Standing =>
    standingOf(
      labelIds.flatMap((id) => byId.get(id) ?? []),
      scope === undefined,
    )
  const carrying = (labelIds: readonly string[], { isListed }: Standing) =>
    isListed ? [...labelIds, allMail(accountId)] : labelIds
  /** Labels that no listing has shown are left out. */
  const labelIdsOf = (paths: readonly string[]) => [
    ...new Set(paths.flatMap((path) => context.labels.get(path)?.id ?? [])),
  ]

  function count(labelIds: Iterable<string>, kind: keyof FolderCounts): void {
    for (const id of labelIds) {
      const sums = counts.get(id) ?? { added: 0, updated: 0, deleted: 0 }
      counts.set(id, { ...sums, [kind]: sums[kind] + 1 })
    }
  }

  function tell(type: MessageEventType, row: MessageRow, labelIds: readonly string[]): void {
    const folder = byId.get(row.folderId ?? '')?.name ?? null
    const body = context.bodies.get(row.providerMessageId)
    events.push(labelledEvent(type, row, { provider, labelIds: [...labelIds], folder }, body))
  }

  /** Undefined where nothing is to be written. */
  function restated(
    row: MessageRow,
    carried: readonly string[],
    told: Told,
    mail?: IncomingRow,
  ): MessageUpdate | undefined {
    const isBack = row.goneAt !== null
    const labelIds = told.folders === undefined ? carried : labelIdsOf(told.folders)
    const now = standing(labelIds)
    const old = byId.get(row.folderId ?? '')
    const folderId = now.folder?.id ?? null
    const unread = told.unread === undefined ? row.unread : Number(told.unread)
    const starred = told.starred === undefined ? row.starred : Number(told.starred)
    const threadId = mail?.threadId ?? row.threadId
    // Mail does not change once it was sent; drafts do, and become what was sent.
    const isDraft = old?.role === 'drafts' || now.folder?.role === 'drafts'
    const rewritten = mail !== undefined && isDraft && isRewritten(row, mail)
    const isRelabelled = !isBack && !sameMembers(carried, labelIds)
    const isMoved = row.folderId !== folderId
    const shows =
      isMoved ||
      isRelabelled ||
      rewritten ||
      row.unread !== unread ||
      row.starred !== starred ||
      row.threadId !== threadId
    if (!shows && !isBack) return undefined

    const after: MessageRow = {
      ...row,
      ...(rewritten && contentOf(mail)),
      ...{ folderId, threadId, unread, starred, goneAt: null },
      ...(shows && { version: row.version + 1, updatedAt: nowMs }),
    }
    const kept = new Set(isBack ? [] : carried)
    count(
      labelIds.filter((id) => !kept.has(id)),
      'added',
    )
    count(
      [...kept].filter((id) => !labelIds.includes(id)),
      'deleted',
    )
    if (shows) {
      count(
        labelIds.filter((id) => kept.has(id)),
        'updated',
      )
      const becameSent = old?.role === 'drafts' && now.folder?.role === 'sent'
      const edited = rewritten && now.folder?.role === 'drafts'
      tell(becameSent ? 'message.sent' : edited ? 'draft.updated' : 'message.updated', after, labelIds)
    }
    const touchesLabels = isBack || isRelabelled || rewritten || row.unread !== unread
    return { row: after, rewritten, ...(touchesLabels && { labelIds: carrying(labelIds, now) }) }
  }

  async function knownRows(ids: readonly string[]) {
    const rows = await store.byProviderIds(accountId, ids)
    return { rows, carried: await store.labelIds(rows.map((row) => row.id)) }
  }

  return {
    /** They left the scope. Where that is one folder of several, they may turn up in another, or have already. */
    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      const { rows, carried } = await knownRows(ids)
      if (scope !== undefined) {
        const leaving = rows.filter((row) => row.folderId === scope.id && row.goneAt === null)
        await writer.markMissing(leaving)
        for (const _ of leaving) count([scope.id], 'deleted')
        return
      }
      await writer.remove(rows.map((row) => row.id))
      for (const row of rows) {
        const labelIds = carried.get(row.id) ?? []
        count(labelIds, 'deleted')
        tell('message.deleted', { ...row, version: row.version + 1 }, labelIds)
      }
    },

    /** What is known of stored mails; of others nothing is known, and what vanished must be seen whole to be back. */
    async change(changes: readonly Told[]): Promise<void> {
      if (changes.length === 0) return
      const told = new Map(changes.map((one) => [one.providerMessageId, one]))
      const { rows, carried } = await knownRows([...told.keys()])
      await writer.update(
        rows.flatMap((row) => {
          const one = told.get(row.providerMessageId)
          return one === undefined || row.goneAt !== null ? [] : (restated(row, carried.get(row.id) ?? [], one) ?? [])
        }),
      )
    },

    async find(found: readonly FoundMessage[], refetched: boolean, position: CursorRow | undefined): Promise<void> {
      if (found.length === 0) return
      const seen = found.map(({ message, folders }) => ({
        message,
        mail: incomingRow(message, { accountId, labelId: '', nowMs }),
        labelIds: labelIdsOf(folders),
        told: {
          providerMessageId: message.providerMessageId,
          unread: message.unread,
          starred: message.starred,
          folders,
        },
      }))
      const { rows, carried } = await knownRows(seen.map(({ mail }) => mail.providerMessageId))
      const known = new Map(rows.map((row) => [row.providerMessageId, row]))
      const restatements = seen.flatMap(({ mail, told }) => {
        const row = known.get(mail.providerMessageId)
        return row === undefined ? [] : (restated(row, carried.get(row.id) ?? [], told, mail) ?? [])
      })
      await writer.update(restatements)

      // In the order of arrival, which ids keep and events follow.
      const arrivals = seen
        .filter(({ mail }) => !known.has(mail.providerMessageId))
        .sort((a, b) => a.mail.receivedAt - b.mail.receivedAt)
        .map(({ message, mail, labelIds }) => {
          const stands = standing(labelIds)
          const id = deps.ids('msg')
          return {
            row: newMessageRow(mail, { accountId, labelId: stands.folder?.id ?? null, id, nowMs }),
            labelIds,
            stands,
            type: isNewArrival(message, mail, refetched, position, context.syncedAt())
              ? arrivalType(stands.folder?.role ?? null)
              : undefined,
          }
        })
      const byRow = new Map(arrivals.map((arrival) => [arrival.row.id, arrival]))
      const stored = await writer.insert(
        arrivals.map(({ row }) => row),
        ({ id }) => {
          const arrival = byRow.get(id)
          return arrival === undefined ? [] : carrying(arrival.labelIds, arrival.stands)
        },
      )
      const rewritten = restatements.filter((one) => one.rewritten).map(({ row }) => row)
      await deps.requestBodies?.(
        tx,
        accountId,
        [...stored, ...rewritten].map((row) => row.id),
      )
      warnIncomplete(deps, context, scope?.id, arrivals.length, stored)
      for (const row of stored) {
        const { labelIds, type } = byRow.get(row.id) ?? { labelIds: [], type: undefined }
        count(labelIds, 'added')
        if (type !== undefined) tell(type, row, labelIds)
      }
    },

    async record(): Promise<void> {
      const labels = labelStore(tx)
      for (const [id, changed] of counts) {
        const label = byId.get(id)
        if (label !== undefined) events.push(folderEvent(label, await labels.incrementVersion(id), provider, changed))
      }
      await deps.events.record(tx, events)
    },
  }
}

const CONTENT = [
  ...(['identityHash', 'headerHash', 'subject', 'receivedAt', 'hasAttachments', 'sizeBytes'] as const),
  ...(['snippet', 'text', 'fields', 'error'] as const),
] as const

function contentOf(mail: IncomingRow): Pick<IncomingRow, (typeof CONTENT)[number]> {
  const { identityHash, headerHash, subject, receivedAt, hasAttachments, sizeBytes, snippet, text, fields, error } =
    mail
  return { identityHash, headerHash, subject, receivedAt, hasAttachments, sizeBytes, snippet, text, fields, error }
}

function isRewritten(row: MessageRow, mail: IncomingRow): boolean {
  return CONTENT.some((column) => row[column] !== mail[column])
}

function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}
