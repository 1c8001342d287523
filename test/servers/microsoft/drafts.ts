import { composeMessage } from '../../../src/providers/mime/index.ts'
import type { Route, Routed } from '../fake/router.ts'
import type { Emulator, MessageRow, Person } from './emulator.ts'
import { badRequest, graphError, itemNotFound } from './errors.ts'
import type { Mailboxes } from './mailbox.ts'

const ME = '/v1.0/me'

interface Recipient {
  emailAddress?: { address?: string; name?: string }
}

/** The writable properties of a draft. */
interface DraftBody {
  subject?: string
  body?: { contentType?: string; content?: string }
  toRecipients?: Recipient[]
  ccRecipients?: Recipient[]
  bccRecipients?: Recipient[]
  internetMessageId?: string
}

export type EditDraft = (user: string, id: string, body: DraftBody) => Promise<Response | undefined>

/** Drafts of Graph: created in Drafts, edited in place, and sent into Sent Items, always under the same immutable id. */
export function draftRoutes(
  emulator: Emulator,
  boxes: Mailboxes,
  show: (request: Routed, id: string, status: number) => Promise<Response>,
) {
  const rowOf = (user: string, id: string) => boxes.messages(user).find((row) => row.microsoft_id === id)

  /** Writes the columns, and the MIME form that `$value` returns. Returns the error response of a message that is not a draft. */
  const edit: EditDraft = async (user, id, { subject, body, toRecipients, ccRecipients, bccRecipients }) => {
    const row = rowOf(user, id)
    if (row === undefined) return itemNotFound()
    if (!row.is_draft) return graphError(400, 'ErrorInvalidOperation', 'The operation is only valid on a draft.')
    const people = (given: Recipient[] | undefined, before: Person[]): Person[] =>
      given?.flatMap(({ emailAddress: { address, name } = {} }) =>
        address === undefined ? [] : [{ address, ...(name !== undefined && { name }) }],
      ) ?? before
    const isHtml = body === undefined ? row.body_content_type === 'html' : body.contentType?.toLowerCase() === 'html'
    const content = body?.content ?? row.body_content
    const columns: Partial<MessageRow> = {
      subject: subject ?? row.subject,
      body_content_type: isHtml ? 'html' : 'text',
      body_content: content,
      to_recipients: people(toRecipients, row.to_recipients),
      cc_recipients: people(ccRecipients, row.cc_recipients),
      bcc_recipients: people(bccRecipients, row.bcc_recipients),
    }
    const text = isHtml ? content.replace(/<[^>]*>/g, ' ') : content
    columns.body_preview = text.replace(/\s+/g, ' ').trim().slice(0, 255)
    boxes.rewrite(user, id, columns, { raw: await rawOf({ ...row, ...columns }), text })
    return undefined
  }

  async function rawOf(row: MessageRow): Promise<Buffer> {
    const addresses = (people: Person[]) => people.map(({ address, name = '' }) => ({ name, email: address }))
    const isHtml = row.body_content_type === 'html'
    const attachments = emulator.microsoft.attachments.findBy('message_microsoft_id', row.microsoft_id)
    return composeMessage(
      {
        from: { name: row.from_name ?? '', email: row.from_address ?? row.user_email },
        ...{ to: addresses(row.to_recipients), cc: addresses(row.cc_recipients), bcc: addresses(row.bcc_recipients) },
        ...{ replyTo: addresses(row.reply_to), subject: row.subject, messageId: row.internet_message_id },
        text: isHtml ? null : row.body_content,
        html: isHtml ? row.body_content : null,
        attachments: attachments.map(({ name, content_type, content_bytes, is_inline, content_id }) => ({
          ...{ filename: name, contentType: content_type, content: Buffer.from(content_bytes, 'base64') },
          contentId: is_inline ? content_id : null,
        })),
        ...{ inReplyTo: null, references: [], date: Date.parse(row.created_date_time), sentToken: null, headers: [] },
      },
      { keepBcc: true },
    )
  }

  async function create(request: Routed) {
    const user = request.user ?? ''
    const body = JSON.parse(request.body.toString() || '{}') as DraftBody
    const { internetMessageId } = body
    if (internetMessageId !== undefined && !/^<[^<>\s]+>$/.test(internetMessageId)) {
      return badRequest('internetMessageId is not valid.')
    }
    const headers = [`From: ${user}`, ...(internetMessageId === undefined ? [] : [`Message-ID: ${internetMessageId}`])]
    const raw = Buffer.from(`${headers.join('\r\n')}\r\n\r\n`)
    const id = await boxes.deliver(user, raw, { folder: 'drafts', date: new Date(), read: true, draft: true })
    return (await edit(user, id, body)) ?? show(request, id, 201)
  }

  async function send(request: Routed) {
    const user = request.user ?? ''
    const id = boxes.find(user, request.params.id ?? '')
    const row = id === undefined ? undefined : rowOf(user, id)
    if (id === undefined || row === undefined) return itemNotFound()
    if (!row.is_draft) return graphError(400, 'ErrorInvalidOperation', 'The message was sent already.')
    if (row.to_recipients.length + row.cc_recipients.length + row.bcc_recipients.length === 0) {
      return graphError(400, 'ErrorInvalidRecipients', 'At least one recipient is not valid.')
    }
    boxes.send(user, id)
    return new Response(null, { status: 202 })
  }

  const routes: Route[] = [
    { method: 'POST', pattern: `${ME}/messages`, handle: create },
    { method: 'POST', pattern: `${ME}/messages/{id}/send`, handle: send },
  ]
  return { edit, routes }
}
