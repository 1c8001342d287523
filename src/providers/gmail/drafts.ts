import * as Type from 'typebox'
import type { Clock } from '../../platform/time/clock.ts'
import { type DraftRef, type LiveReads, type MailDrafts, ProviderError, type RemoteDraft } from '../contract/index.ts'
import { composeDraft, editDraft, readDraft } from '../shared/mime/index.ts'
import { object, parser, type RestRequest, text } from '../shared/rest/index.ts'
import { listPage, ME } from './client.ts'
import { listDraftIds } from './draft-ids.ts'
import { DRAFT } from './folders.ts'
import { foundMessage, MESSAGE_FIELDS } from './map.ts'
import type { GmailMailbox } from './quota.ts'
import { beginUpload, MAX_INLINE_BYTES } from './upload.ts'

const id = Type.String({ minLength: 1, maxLength: 200 })
const parseSaved = parser(Type.Object({ id }))
const parseDraft = parser(Type.Object({ id, message: Type.Object({ id, threadId: Type.Optional(Type.String()) }) }))
/** Texts included, attachments not. */
const TRASH = 'TRASH'
const MAX_DRAFT_BYTES = 24 * 1024 * 1024

/**
 * Drafts by Gmail's draft id, which stays the same while each edit makes another message. `live` reads the bytes of the current version,
 * because an update replaces the entire message.
 */
export function gmailDrafts(
  mailbox: GmailMailbox,
  live: Pick<LiveReads<{ providerMessageId: string }>, 'openRaw'>,
  clock: Clock,
): MailDrafts {
  const draftPath = (draftId: string) => `/drafts/${encodeURIComponent(draftId)}`

  async function read(draftId: string): Promise<{ draft: RemoteDraft; threadId: string | undefined }> {
    const query = { format: 'full', fields: `id,message(${MESSAGE_FIELDS})` }
    const doing = 'reading a draft'
    const request = {
      method: 'GET',
      path: ME + draftPath(draftId),
      query,
      doing,
      cost: mailbox.costs.readDraft,
    } as const
    const { message: body } = await mailbox.json({ ...request, maxBytes: MAX_DRAFT_BYTES }, parseDraft)
    const { message, folders } = foundMessage(body.id, body, { isNew: true, nowMs: clock.now() })
    return { draft: { message: { ...message, draftId }, folders }, threadId: text(object(body).threadId) }
  }

  /** Undefined when the draft was deleted or sent. */
  async function find(ref: DraftRef) {
    const draftId = ref.draftId ?? (await listDraftIds(mailbox)).get(ref.providerMessageId)
    const found = draftId === undefined ? undefined : await unlessMissing(read(draftId))
    // In the trash it keeps its draft id.
    return found?.draft.folders.includes(TRASH) ? undefined : found
  }

  async function findByMessageId(messageId: string): Promise<RemoteDraft | undefined> {
    const q = `rfc822msgid:${messageId.replace(/[<>]/g, '')}`
    const { ids } = await listPage(mailbox, { q, labelIds: DRAFT, maxResults: 10 })
    if (ids.length === 0) return undefined
    const drafts = await listDraftIds(mailbox)
    const draftId = ids.map((id) => drafts.get(id)).find((draft) => draft !== undefined)
    return draftId === undefined ? undefined : (await unlessMissing(read(draftId)))?.draft
  }

  /** `path` is below the user. */
  async function save(
    method: 'POST' | 'PUT',
    path: string,
    raw: Buffer,
    { threadId }: { threadId?: string | undefined } = {},
  ): Promise<RemoteDraft> {
    const doing = 'saving a draft'
    const cost = method === 'POST' ? mailbox.costs.createDraft : mailbox.costs.updateDraft
    const thread = threadId === undefined ? {} : { threadId }
    const request: RestRequest =
      raw.length <= MAX_INLINE_BYTES
        ? { method, path: ME + path, body: { message: { raw: raw.toString('base64url'), ...thread } }, doing }
        : await beginUpload(mailbox, { method, path, metadata: { message: thread }, raw, doing })
    const saved = await mailbox.json({ ...request, cost }, parseSaved)
    return (await read(saved.id)).draft
  }

  return {
    async create(draft, { mayExist }) {
      const existing = mayExist ? await findByMessageId(draft.messageId) : undefined
      return existing ?? save('POST', '/drafts', await composeDraft(draft))
    },

    find: async (ref) => (await find(ref))?.draft,

    async replace(ref, change) {
      const current = await find(ref)
      const draftId = current?.draft.message.draftId
      if (current === undefined || draftId === undefined) throw missing('saving a draft')
      const { messageId, providerMessageId } = current.draft.message
      const source = await readDraft(await live.openRaw({ providerMessageId: providerMessageId ?? '' }))
      const raw = await editDraft(source, change, { addsMessageId: messageId === null })
      return save('PUT', draftPath(draftId), raw, { threadId: current.threadId })
    },

    async delete(ref) {
      const draftId = ref.draftId ?? (await listDraftIds(mailbox)).get(ref.providerMessageId)
      if (draftId === undefined) return
      const doing = 'deleting a draft'
      const request = {
        method: 'DELETE',
        path: ME + draftPath(draftId),
        doing,
        cost: mailbox.costs.deleteDraft,
      } as const
      await unlessMissing(mailbox.json(request, object))
    },
  }
}

function missing(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: it does not exist`)
}

async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'not_found') return undefined
    throw error
  }
}
