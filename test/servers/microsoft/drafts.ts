import { composeMessage } from '../../../src/providers/shared/mime/index.ts'
import { plainText } from '../fake/mime.ts'
import type { Emulator, MessageRow, Person } from './emulator.ts'
import { badRequest, graphError, itemNotFound } from './errors.ts'
import type { Mailboxes } from './mailbox.ts'

interface Recipient {
  emailAddress?: { address?: string; name?: string }
}

/** The writable properties of a draft. */
export interface DraftBody {
  from?: Recipient
  subject?: string
  body?: { contentType?: string; content?: string }
  toRecipients?: Recipient[]
  ccRecipients?: Recipient[]
  bccRecipients?: Recipient[]
  replyTo?: Recipient[]
  internetMessageId?: string
  singleValueExtendedProperties?: { id: string; value: string }[]
}

export type EditDraft = (user: string, id: string, body: DraftBody) => Promise<Response | undefined>

/** Drafts of Graph in JSON: created in Drafts and edited in place, always under the same immutable id. */
export function drafts(emulator: Emulator, boxes: Mailboxes) {
  const findRow = (user: string, id: string) => boxes.messages(user).find((row) => row.microsoft_id === id)

  /** Writes the columns, and the MIME form that `$value` returns. Returns the error response of a message that is not a draft. */
  const edit: EditDraft = async (user, id, changes) => {
    const { subject, body, internetMessageId } = changes
    const row = findRow(user, id)
    if (row === undefined) return itemNotFound()
    if (!row.is_draft) return graphError(400, 'ErrorInvalidOperation', 'The operation is only valid on a draft.')
    if (internetMessageId !== undefined && !/^<[^<>\s]+>$/.test(internetMessageId)) {
      return badRequest('internetMessageId is not valid.')
    }
    const people = (recipients: Recipient[] | undefined, before: Person[]): Person[] =>
      recipients?.flatMap(({ emailAddress: { address, name } = {} }) =>
        address === undefined ? [] : [{ address, ...(name !== undefined && { name }) }],
      ) ?? before
    const isHtml = body === undefined ? row.body_content_type === 'html' : body.contentType?.toLowerCase() === 'html'
    const content = body?.content ?? row.body_content
    const text = isHtml ? plainText(content) : content
    for (const { id: name, value } of changes.singleValueExtendedProperties ?? [])
      boxes.propertiesOf(id).set(name, value)
    boxes.rewrite(
      user,
      id,
      {
        from_address: changes.from?.emailAddress?.address ?? row.from_address,
        from_name: changes.from?.emailAddress?.name ?? row.from_name,
        subject: subject ?? row.subject,
        body_content_type: isHtml ? 'html' : 'text',
        body_content: content,
        body_preview: text.replace(/\s+/g, ' ').trim().slice(0, 255),
        to_recipients: people(changes.toRecipients, row.to_recipients),
        cc_recipients: people(changes.ccRecipients, row.cc_recipients),
        bcc_recipients: people(changes.bccRecipients, row.bcc_recipients),
        reply_to: people(changes.replyTo, row.reply_to),
        internet_message_id: internetMessageId ?? row.internet_message_id,
      },
      text,
    )
    await compose(user, id)
    return undefined
  }

  /** Writes the MIME form of a draft from its properties and attachments, unless MIME created it. */
  async function compose(user: string, id: string): Promise<void> {
    const row = findRow(user, id)
    if (row !== undefined && !boxes.isMime(id)) boxes.setRaw(id, await composeRaw(row))
  }

  async function composeRaw(row: MessageRow): Promise<Buffer> {
    const addresses = (people: Person[]) => people.map(({ address, name = '' }) => ({ name, email: address }))
    const isHtml = row.body_content_type === 'html'
    const attachments = emulator.microsoft.attachments.findBy('message_microsoft_id', row.microsoft_id)
    const properties = boxes.propertiesOf(row.microsoft_id)
    return composeMessage(
      {
        from: { name: row.from_name ?? '', email: row.from_address ?? row.user_email },
        to: addresses(row.to_recipients),
        cc: addresses(row.cc_recipients),
        bcc: addresses(row.bcc_recipients),
        replyTo: addresses(row.reply_to),
        subject: row.subject,
        messageId: row.internet_message_id,
        text: isHtml ? null : row.body_content,
        html: isHtml ? row.body_content : null,
        attachments: attachments.map(({ name, content_type, content_bytes, is_inline, content_id }) => ({
          filename: name,
          contentType: content_type,
          content: Buffer.from(content_bytes, 'base64'),
          contentId: is_inline ? content_id : null,
        })),
        inReplyTo: properties.get(IN_REPLY_TO) ?? null,
        references: (properties.get(REFERENCES) ?? '').split(' ').filter((reference) => reference !== ''),
        date: Date.parse(row.created_date_time),
        sentToken: null,
        headers: ownHeaders(properties),
      },
      { keepBcc: true },
    )
  }

  async function create(user: string, body: DraftBody): Promise<string | Response> {
    const date = new Date()
    const raw = Buffer.from(`From: ${user}\r\n\r\n`)
    const id = await boxes.deliver(user, raw, { folder: 'drafts', date, read: true, draft: true })
    const refused = await edit(user, id, body)
    if (refused !== undefined) boxes.delete(user, id)
    return refused ?? id
  }

  return { create, edit, compose }
}

export const IN_REPLY_TO = 'String 0x1042'
export const REFERENCES = 'String 0x1039'

/** The header fields that clients have set as properties, with their values. */
export function ownHeaders(properties: ReadonlyMap<string, string>): { name: string; value: string }[] {
  return [...properties].flatMap(([id, value]) => {
    const name = /^String \{00020386-0000-0000-C000-000000000046\} Name (\S+)$/i.exec(id)?.[1]
    return name === undefined ? [] : [{ name, value }]
  })
}
