import {
  type DraftRef,
  type MailDrafts,
  type NewDraft,
  ProviderError,
  type RemoteDraft,
} from '../../src/providers/contract/index.ts'
import type { DoubleMessage, MailboxDouble } from './mailbox-double.ts'
import { foundMessage } from './mailbox-double-found.ts'

/** Drafts of a `MailboxDouble`. As at Gmail, an edit of a `whole` mailbox is another message; as at Graph, otherwise the same. */
export function doubleDrafts(box: MailboxDouble, request: (what: string) => Promise<void>): MailDrafts {
  const all = () => Object.values(box.state.messages).filter(({ folders }) => folders.includes('DRAFT'))
  const current = ({ draftId, providerMessageId }: DraftRef) =>
    all().find((one) => (draftId === null ? one.id === providerMessageId : one.parsed?.draftId === draftId))
  const remote = (message: DoubleMessage): RemoteDraft => foundMessage(message, 0)

  function contentOf(draft: NewDraft) {
    const { from, to, cc, bcc, messageId, date, subject, body, attachments } = draft
    const text = body.text ?? (body.html ?? '').replace(/<[^>]*>/g, '')
    const files = attachments?.map(({ content, contentId, ...file }, index) => {
      const about = { ...file, id: `${index + 2}`, sizeBytes: content.length, inline: contentId !== null, contentId }
      return { about, content: content.toString('base64') }
    })
    return {
      ...{ subject, text, html: body.html },
      ...(files && { files: Object.fromEntries(files.map(({ about, content }) => [about.id, content])) }),
      parsed: { from, to, cc, bcc, messageId, date, ...(files && { attachments: files.map(({ about }) => about) }) },
    }
  }

  function put(draft: NewDraft, kept: Pick<DoubleMessage, 'parsed' | 'files'> = {}): RemoteDraft {
    const id = `draft-${box.state.number}`
    const draftId = box.kind === 'whole' ? { draftId: `of ${id}` } : {}
    const content = contentOf(draft)
    box.deliver(id, {
      ...{ ...kept, ...content },
      folders: ['DRAFT'],
      unread: false,
      parsed: { ...content.parsed, ...draftId, ...kept.parsed },
    })
    return remote(box.state.messages[id] as DoubleMessage)
  }

  return {
    async create(draft, { mayExist }) {
      await request('create draft')
      const existing = mayExist ? all().find((one) => one.parsed?.messageId === draft.messageId) : undefined
      return existing === undefined ? put(draft) : remote(existing)
    },
    async find(ref) {
      await request('find draft')
      const found = current(ref)
      return found && remote(found)
    },
    async replace(ref, content) {
      await request('replace draft')
      const before = current(ref)
      if (before === undefined) throw new ProviderError('not_found', 'there is no such draft')
      const { draftId, messageId = content.messageId } = before.parsed ?? {}
      if (box.kind === 'whole') {
        box.remove(before.id)
        const parsed = { messageId, ...(draftId !== undefined && { draftId }) }
        const { files = {}, parsed: { attachments = [] } = {} } = before
        return put(content, content.attachments ? { parsed } : { files, parsed: { ...parsed, attachments } })
      }
      const { parsed, ...fields } = contentOf(content)
      box.set(before.id, { ...fields, parsed: { ...before.parsed, ...parsed, messageId } })
      return remote(box.state.messages[before.id] as DoubleMessage)
    },
    async delete(ref) {
      await request('delete draft')
      const found = current(ref)
      if (found !== undefined) box.remove(found.id)
    },
  }
}
