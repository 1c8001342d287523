import { randomBytes } from 'node:crypto'
import type { Route, Routed } from '../fake/router.ts'
import { type DraftBody, type drafts, IN_REPLY_TO, ownHeaders, REFERENCES } from './drafts.ts'
import type { Emulator, MessageRow } from './emulator.ts'
import { badRequest, graphError, itemNotFound, sendAsDenied } from './errors.ts'
import type { Mailboxes } from './mailbox.ts'

const ME = '/v1.0/me'
/** Fields that Exchange transfers from MIME. Others only when they are properties of the mailbox. */
const TRANSFERRED = new RegExp(
  `^(${[
    'from',
    'sender',
    'to',
    'cc',
    'reply-to',
    'subject',
    'date',
    'message-id',
    'in-reply-to',
    'references',
    'mime-version',
    'importance',
    'content-[\\w-]+',
    'thread-[\\w-]+',
  ].join('|')}):`,
  'i',
)

/** A message that Graph was asked to send: as it was transferred, and to whom. */
export interface GraphSubmission {
  user: string
  raw: string
  recipients: string[]
}

interface SendDeps {
  emulator: Emulator
  boxes: Mailboxes
  drafts: ReturnType<typeof drafts>
  show(request: Routed, id: string, status: number): Promise<Response>
  sent: GraphSubmission[]
  /** Exchange gives new messages from MIME a Message-ID of its own. */
  replacesMessageIds(): boolean
  /** Awaited before the reply. */
  onSent(): Promise<void>
  /** Whether the user of the token may send with this sender from the mailbox. */
  maySendAs(request: Routed, mailbox: string, from: string): boolean
}

/**
 * Sending over drafts: in MIME or JSON, as a reply or not, with attachments, and the transfer, which moves the draft to Sent Items and
 * delivers it to the users of the fake. As the documentation and its issues say, MIME is transferred as it was given, but without
 * header fields that the mailbox does not know as properties.
 */
export function sendRoutes({
  emulator,
  boxes,
  drafts,
  show,
  sent,
  onSent,
  replacesMessageIds,
  maySendAs,
}: SendDeps): Route[] {
  /** Names of header fields that a mailbox has as properties, in lower case. */
  const knownHeaders = new Map<string, Set<string>>()
  const findRow = (user: string, id: string) => boxes.messages(user).find((row) => row.microsoft_id === id)
  const isMime = ({ headers }: Routed) => headers.get('content-type')?.startsWith('text/plain') === true

  async function createFromMime(request: Routed, conversation: string): Promise<string | Response> {
    const user = request.user ?? ''
    const base64 = request.body.toString()
    if (base64 === '' || !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)) {
      return graphError(400, 'ErrorMimeContentInvalidBase64String', 'Invalid base64 string for MIME content.')
    }
    const text = Buffer.from(base64, 'base64').toString('latin1')
    const own = `Message-ID: <${randomBytes(12).toString('hex')}@prod.outlook.test>`
    const raw = Buffer.from(replacesMessageIds() ? text.replace(/^Message-ID:.*$/im, own) : text, 'latin1')
    const options = { folder: 'drafts', date: new Date(), read: true, draft: true, mime: true, conversation }
    return boxes.deliver(user, raw, options)
  }

  async function create(request: Routed) {
    const created = isMime(request)
      ? await createFromMime(request, `AAQk${randomBytes(16).toString('base64url')}`)
      : await drafts.create(request.user ?? '', JSON.parse(request.body.toString() || '{}') as DraftBody)
    return typeof created === 'string' ? show(request, created, 201) : created
  }

  async function createReply(request: Routed) {
    const user = request.user ?? ''
    const id = boxes.find(user, request.params.id ?? '')
    const original = id === undefined ? undefined : findRow(user, id)
    if (original === undefined) return itemNotFound()
    if (original.is_draft) return graphError(400, 'ErrorInvalidOperation', 'A draft has no reply.')
    const to = original.reply_to[0]?.address ?? original.from_address ?? ''
    if (isMime(request)) {
      const reply = await createFromMime(request, original.conversation_id)
      if (typeof reply !== 'string') return reply
      boxes.rewrite(user, reply, { to_recipients: [{ address: to }], cc_recipients: [] }, boxes.textOf(reply))
      return show(request, reply, 201)
    }
    if (request.body.length > 0) return badRequest('This fake expects no body.')
    const reply = await boxes.deliver(user, Buffer.from(`From: ${user}\r\n\r\n`), {
      folder: 'drafts',
      date: new Date(),
      read: true,
      draft: true,
      conversation: original.conversation_id,
    })
    for (const image of emulator.microsoft.attachments.findBy('message_microsoft_id', original.microsoft_id)) {
      if (!image.is_inline) continue
      const { name, content_type: contentType, content_id: contentId, content_bytes } = image
      const content = Buffer.from(content_bytes, 'base64')
      boxes.attach(user, reply, { name, contentType, content, isInline: true, contentId })
    }
    await drafts.edit(user, reply, {
      subject: `RE: ${original.subject}`,
      body: { contentType: 'html', content: `<hr>${original.body_content}` },
      toRecipients: [{ emailAddress: { address: to } }],
      singleValueExtendedProperties: [
        { id: IN_REPLY_TO, value: original.internet_message_id },
        { id: REFERENCES, value: original.internet_message_id },
      ],
    })
    return show(request, reply, 201)
  }

  /** Builds the message as recipients get it. */
  function transferred(user: string, row: MessageRow): Buffer {
    const names = knownHeaders.get(user) ?? new Set()
    knownHeaders.set(user, names)
    const properties = ownHeaders(boxes.propertiesOf(row.microsoft_id))
    for (const { name } of properties) names.add(name.toLowerCase())
    const raw = boxes.rawOf(row.microsoft_id).toString('latin1')
    const end = raw.indexOf('\r\n\r\n')
    const fields = raw.slice(0, end).split(/\r\n(?![ \t])/)
    const fieldName = (field: string) => field.slice(0, field.indexOf(':')).toLowerCase()
    const kept = fields.filter((field) => TRANSFERRED.test(field) || names.has(fieldName(field)))
    const missing = properties.filter(({ name }) => !kept.some((field) => fieldName(field) === name.toLowerCase()))
    const header = [...kept, ...missing.map(({ name, value }) => `${name}: ${value}`)].map((field) =>
      fieldName(field) === 'message-id' ? `Message-ID: ${row.internet_message_id}` : field,
    )
    return Buffer.from(header.join('\r\n') + raw.slice(end), 'latin1')
  }

  async function send(request: Routed) {
    const user = request.user ?? ''
    const id = boxes.find(user, request.params.id ?? '')
    const row = id === undefined ? undefined : findRow(user, id)
    if (id === undefined || row === undefined) return itemNotFound()
    if (!row.is_draft) return graphError(400, 'ErrorInvalidOperation', 'The message was sent already.')
    const people = [...row.to_recipients, ...row.cc_recipients, ...row.bcc_recipients]
    const recipients = [...new Set(people.map(({ address }) => address))]
    if (recipients.length === 0 || recipients.some((address) => !/^\S+@\S+$/.test(address))) {
      return graphError(400, 'ErrorInvalidRecipients', 'At least one recipient is not valid.')
    }
    if (row.from_address !== null && !maySendAs(request, user, row.from_address.toLowerCase())) return sendAsDenied()
    await drafts.compose(user, id)
    const raw = transferred(user, row)
    sent.push({ user, raw: raw.toString('latin1'), recipients })
    boxes.send(user, id, raw)
    const here = recipients.filter((address) => boxes.folders(address).length > 0)
    for (const recipient of here) {
      await boxes.deliver(recipient, raw, { folder: 'inbox', date: new Date(), read: false, draft: false })
    }
    await onSent()
    return new Response(null, { status: 202 })
  }

  return [
    { method: 'POST', pattern: `${ME}/messages`, handle: create },
    { method: 'POST', pattern: `${ME}/messages/{id}/createReply`, handle: createReply },
    { method: 'POST', pattern: `${ME}/messages/{id}/send`, handle: send },
  ]
}
