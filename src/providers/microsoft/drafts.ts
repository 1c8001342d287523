import type { Clock } from '../../platform/time/clock.ts'
import {
  type DraftBody,
  type DraftChange,
  type DraftRef,
  type MailDrafts,
  type OutgoingAttachment,
  ProviderError,
  type RemoteAddress,
  type RemoteDraft,
} from '../contract/index.ts'
import { linkedContentIds } from '../shared/mime/index.ts'
import { type Json, object, text } from '../shared/rest/index.ts'
import { type Graph, messagePath, segment } from './client.ts'
import { deleteOneForGood } from './deletion.ts'
import { AS_TEXT, ATTACHMENT_FIELDS, foundMessage, MESSAGE_FIELDS, mapAttachments, mayHaveAttachments } from './map.ts'
import type { Attach } from './sending/attachments.ts'

const SAVING = 'saving a draft'
const READING = 'reading a draft'
const MAX_DRAFT_BYTES = 24 * 1024 * 1024
/** For all attachments of a change, which holds the draft's lock. */
const ATTACHING_MS = 60_000

/**
 * Drafts at Graph, which edits a message in place: it keeps its id, its attachments and its thread. `attach` adds files one by one, so
 * for a moment a draft has only some of them.
 */
export function microsoftDrafts(
  graph: Graph,
  folderId: string,
  { clock, attach }: { clock: Clock; attach: Attach },
): MailDrafts {
  async function read(id: string): Promise<RemoteDraft | undefined> {
    const request = { query: MESSAGE_FIELDS, prefer: [AS_TEXT], doing: READING, maxBytes: MAX_DRAFT_BYTES }
    const item = await unlessMissing(graph.get(messagePath(id), request, object))
    // A message that was sent, or moved to another folder, keeps its id.
    if (item === undefined || item.isDraft !== true || text(item.parentFolderId) !== folderId) return undefined
    const options = { query: { $select: ATTACHMENT_FIELDS, $top: 100 }, doing: READING }
    const page = mayHaveAttachments(item) ? await graph.page(`${messagePath(id)}/attachments`, options) : undefined
    const attachments = mapAttachments(page?.items ?? [])
    return foundMessage(item, { folder: folderId, nowMs: clock.now(), isNew: true, attachments, error: null })
  }

  async function findByMessageId(messageId: string): Promise<RemoteDraft | undefined> {
    const $filter = `internetMessageId eq '${messageId.replaceAll("'", "''")}'`
    const path = `/me/mailFolders/${segment(folderId)}/messages`
    const { items } = await graph.page(path, { query: { $filter, $select: 'id', $top: 2 }, doing: READING })
    const id = text(items[0]?.id)
    return id === undefined ? undefined : read(id)
  }

  async function readSaved(id: string | undefined): Promise<RemoteDraft> {
    const saved = id === undefined ? undefined : await read(id)
    if (saved === undefined) throw new ProviderError('not_found', `${SAVING}: it does not exist`)
    return saved
  }

  async function attachAll(id: string, attachments: readonly OutgoingAttachment[]): Promise<void> {
    const late = new AbortController()
    const error = new ProviderError('unavailable', `${SAVING}: its attachments take too long`, { timedOut: true })
    const timer = setTimeout(() => late.abort(error), ATTACHING_MS)
    try {
      for (const { content, ...file } of attachments) {
        await attach(id, { ...file, content: async () => content }, { doing: SAVING, signal: late.signal })
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Replaces the attachments, except those that the HTML body shows and none of the new ones replaces. */
  async function replaceAttachments({ message }: RemoteDraft, attachments: OutgoingAttachment[]): Promise<void> {
    const id = message.providerMessageId ?? ''
    await attachAll(id, attachments)
    const contentIds = new Set(attachments.map(({ contentId }) => contentId))
    const shown = message.attachments.some(({ contentId }) => contentId !== null) ? await readLinkedIds(id) : undefined
    for (const { id: attachmentId, contentId } of message.attachments) {
      const isShown = contentId !== null && shown?.has(contentId.toLowerCase())
      if (isShown && !contentIds.has(contentId)) continue
      const path = `${messagePath(id)}/attachments/${segment(attachmentId)}`
      await unlessMissing(graph.send('DELETE', path, { doing: SAVING }))
    }
  }

  async function readLinkedIds(id: string): Promise<ReadonlySet<string>> {
    const request = { query: { $select: 'body' }, doing: READING, maxBytes: MAX_DRAFT_BYTES }
    const { contentType, content } = object((await graph.get(messagePath(id), request, object)).body)
    return new Set(contentType === 'html' ? linkedContentIds(text(content) ?? '') : [])
  }

  return {
    async create(draft, { mayExist }) {
      const { attachments = [] } = draft
      const existing = mayExist ? await findByMessageId(draft.messageId) : undefined
      if (existing !== undefined) {
        // An earlier call may have ended between two attachments.
        const missing = attachments.slice(existing.message.attachments.length)
        if (missing.length === 0) return existing
        const id = existing.message.providerMessageId ?? ''
        await attachAll(id, missing)
        return readSaved(id)
      }
      const { from, ...content } = draft
      const sender = graph.needsSender(from.email) || from.name !== '' ? { from } : {}
      const body = { ...buildContent({ ...content, ...sender }), internetMessageId: draft.messageId }
      const id = text((await graph.send('POST', '/me/messages', { body, doing: SAVING })).id)
      if (id !== undefined) await attachAll(id, attachments)
      return readSaved(id)
    },

    find: ({ providerMessageId }: DraftRef) => read(providerMessageId),

    async replace({ providerMessageId }, change) {
      const current = await readSaved(providerMessageId)
      const body = buildContent(change)
      if (Object.keys(body).length > 0) {
        await graph.send('PATCH', messagePath(providerMessageId), { body, doing: SAVING })
      }
      if (change.attachments !== undefined) await replaceAttachments(current, change.attachments)
      return readSaved(providerMessageId)
    },

    async delete({ providerMessageId }) {
      if ((await read(providerMessageId)) === undefined) return
      await deleteOneForGood(graph, providerMessageId, { doing: 'deleting a draft' })
    },
  }
}

/** Only what is given, because a PATCH changes what it names. */
function buildContent({ from, to, cc, bcc, subject, body }: Omit<DraftChange, 'messageId' | 'date'>): Json {
  const content: Record<string, unknown> = {}
  if (from !== undefined) content.from = recipients([from])[0]
  if (subject !== undefined) content.subject = subject
  if (body !== undefined) content.body = buildBody(body)
  if (to !== undefined) content.toRecipients = recipients(to)
  if (cc !== undefined) content.ccRecipients = recipients(cc)
  if (bcc !== undefined) content.bccRecipients = recipients(bcc)
  return content
}

function buildBody({ text: plain, html }: DraftBody): Json {
  return html === null ? { contentType: 'text', content: plain ?? '' } : { contentType: 'html', content: html }
}

export function recipients(addresses: readonly RemoteAddress[]) {
  return addresses.map(({ name, email }) => ({ emailAddress: { address: email, ...(name !== '' && { name }) } }))
}

async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'not_found') return undefined
    throw error
  }
}
