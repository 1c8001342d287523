import {
  type DraftChange,
  type DraftRef,
  type MailDrafts,
  ProviderError,
  type RemoteDraft,
} from '../../../../src/providers/contract/index.ts'
import { foundMessage } from './found.ts'
import type { DoubleMessage, MailboxDouble } from './mailbox-double.ts'

type Content = DraftChange

/** Drafts of a `MailboxDouble`. As at Gmail, an edit of a `whole` mailbox is another message; as at Graph, otherwise the same. */
export function doubleDrafts(box: MailboxDouble, request: (what: string) => Promise<void>): MailDrafts {
  const all = () => Object.values(box.state.messages).filter(({ folders }) => folders.includes('DRAFT'))
  const current = ({ draftId, providerMessageId }: DraftRef) =>
    all().find((message) => (draftId === null ? message.id === providerMessageId : message.parsed?.draftId === draftId))
  const remote = (message: DoubleMessage): RemoteDraft => foundMessage(message, 0)

  /** The members that are given. */
  function toContent({ from, to, cc, bcc, messageId, date, subject, body, attachments }: Content) {
    const files = attachments?.map(({ content, contentId, ...file }, index) => {
      const about = { ...file, id: `${index + 2}`, sizeBytes: content.length, inline: contentId !== null, contentId }
      return { about, content: content.toString('base64') }
    })
    const fields = { from, to, cc, bcc, messageId, date, attachments: files?.map(({ about }) => about) }
    return {
      ...(subject !== undefined && { subject }),
      ...(body && { text: body.text ?? (body.html ?? '').replace(/<[^>]*>/g, ''), html: body.html }),
      ...(files && { files: Object.fromEntries(files.map(({ about, content }) => [about.id, content])) }),
      parsed: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    }
  }

  function put(content: Partial<DoubleMessage>, draftId?: string): RemoteDraft {
    const id = `draft-${box.state.number}`
    const ownId = box.kind === 'whole' ? { draftId: draftId ?? `of ${id}` } : {}
    const parsed = { ...content.parsed, ...ownId }
    box.deliver(id, { ...content, folders: ['DRAFT'], unread: false, parsed })
    return remote(box.state.messages[id] as DoubleMessage)
  }

  return {
    async create(draft, { mayExist }) {
      await request('create draft')
      const existing = mayExist ? all().find((message) => message.parsed?.messageId === draft.messageId) : undefined
      return existing === undefined ? put(toContent(draft)) : remote(existing)
    },
    async find(ref) {
      await request('find draft')
      const found = current(ref)
      return found && remote(found)
    },
    async replace(ref, change) {
      await request('replace draft')
      const before = current(ref)
      if (before === undefined) throw new ProviderError('not_found', 'there is no such draft')
      const { draftId, messageId = change.messageId } = before.parsed ?? {}
      const { parsed, ...fields } = toContent(change)
      const next = { ...fields, parsed: { ...before.parsed, ...parsed, messageId } }
      if (box.kind === 'whole') {
        box.remove(before.id)
        const { id: _id, receivedAt: _receivedAt, ...content } = before
        return put({ ...content, ...next }, draftId)
      }
      box.set(before.id, next)
      return remote(box.state.messages[before.id] as DoubleMessage)
    },
    async delete(ref) {
      await request('delete draft')
      const found = current(ref)
      if (found !== undefined) box.remove(found.id)
    },
  }
}
