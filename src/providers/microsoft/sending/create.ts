import { ProviderError, type QueuedMessage, type RemoteAddress } from '../../contract/index.ts'
import {
  type ComposedParts,
  composedParts,
  decodedField,
  type Header,
  headerFields,
  parseHeaders,
  SENT_TOKEN_HEADER,
} from '../../shared/mime/index.ts'
import { type Json, list, object, text } from '../../shared/rest/index.ts'
import { type Graph, type GraphChange, messagePath } from '../client.ts'
import { recipients } from '../drafts.ts'
import { DOING, MAX_MIME_BYTES, MAX_REQUEST_BYTES, TRANSFER_MS } from './limits.ts'

export interface DraftWriter {
  graph: Graph
  attach(messageId: string, attachment: ComposedParts['attachments'][number]): Promise<void>
  onDraft(providerMessageId: string): Promise<void>
  signal: AbortSignal
}

/**
 * Creates the draft that will be sent, and returns its id:
 *
 *     fits one request ─▶ MIME, which Exchange transfers as it is ─▶ Bcc and own header fields, which MIME does not carry
 *     larger           ─▶ JSON with the text or the HTML ─▶ the attachments one by one
 *
 * Attachments cannot be added to the first kind, because Exchange would transfer the MIME without them. A reply begins as
 * `createReply` of the original: only that keeps the conversation.
 */
export async function createDraft(writer: DraftWriter, message: QueuedMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message.bytes()) chunks.push(chunk)
  const raw = Buffer.concat(chunks)
  return raw.length <= MAX_MIME_BYTES ? createFromMime(writer, message, raw) : createFromParts(writer, message, raw)
}

async function createFromMime(writer: DraftWriter, message: QueuedMessage, raw: Buffer): Promise<string> {
  const { graph, onDraft, signal } = writer
  const body = raw.toString('base64')
  const draft = (await createReply(writer, message, body)) ?? (await create(writer, '/me/messages', body))
  const id = requireId(draft)
  await onDraft(id)
  const headers = parseHeaders(raw.subarray(0, raw.indexOf('\r\n\r\n')))
  const { to, cc } = message
  const properties = ownProperties(headers)
  const changes = {
    ...(graph.needsSender(message.from) &&
      !hasSender(draft.from, message.from) && { from: { emailAddress: { address: message.from } } }),
    ...(!hasRecipients(draft.toRecipients, to) && { toRecipients: recipients(to) }),
    ...(!hasRecipients(draft.ccRecipients, cc) && { ccRecipients: recipients(cc) }),
    ...(message.bcc.length > 0 && { bccRecipients: recipients(withoutNames(message.bcc)) }),
    ...(text(draft.internetMessageId) !== message.rfcMessageId && { internetMessageId: message.rfcMessageId }),
    ...(properties.length > 0 && { singleValueExtendedProperties: properties }),
  }
  if (Object.keys(changes).length > 0) {
    await graph.send('PATCH', messagePath(id), { body: changes, doing: DOING, signal })
  }
  return id
}

async function createFromParts(writer: DraftWriter, message: QueuedMessage, raw: Buffer): Promise<string> {
  const { graph, attach, onDraft, signal } = writer
  const parts = await composedParts(raw)
  if (parts.bodyBytes > MAX_REQUEST_BYTES) throw tooLarge()
  const body = await buildContent(parts, message)
  if (graph.needsSender(message.from)) body.from = { emailAddress: { address: message.from } }
  if (Buffer.byteLength(JSON.stringify(body)) > MAX_REQUEST_BYTES) throw tooLarge()
  const reply = await createReply(writer, message)
  const id = requireId(reply ?? (await create(writer, '/me/messages', body)))
  await onDraft(id)
  if (reply !== undefined) {
    // Exchange copies the images of the original's text, which this body does not quote.
    const { items } = await graph.page(`${messagePath(id)}/attachments`, {
      query: { $select: 'id', $top: 100 },
      doing: DOING,
      signal,
    })
    for (const { id: copied } of items) {
      const path = `${messagePath(id)}/attachments/${encodeURIComponent(text(copied) ?? '')}`
      await graph.send('DELETE', path, { doing: DOING, signal })
    }
    await graph.send('PATCH', messagePath(id), { body, doing: DOING, signal, timeoutMs: TRANSFER_MS })
  }
  for (const attachment of parts.attachments) await attach(id, attachment)
  return id
}

function create({ graph, signal }: DraftWriter, path: string, body?: GraphChange['body']): Promise<Json> {
  const change = { doing: DOING, signal, timeoutMs: TRANSFER_MS, ...(body !== undefined && { body }) }
  return graph.send('POST', path, change)
}

/** Undefined for a message that replies to none, to one that was deleted meanwhile, or to one of a kind without replies. */
async function createReply(writer: DraftWriter, message: QueuedMessage, mime?: string): Promise<Json | undefined> {
  if (message.repliesTo === null) return undefined
  try {
    return await create(writer, `${messagePath(message.repliesTo)}/createReply`, mime)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.missingScope) throw error
    if (error.kind !== 'not_found' && error.kind !== 'rejected') throw error
    return undefined
  }
}

async function buildContent(
  parts: ComposedParts,
  { to, cc, bcc, rfcMessageId }: QueuedMessage,
): Promise<Record<string, unknown>> {
  const { headers } = parts
  const { text: plain, html } = parts.body()
  const { subject, replyTo, inReplyTo, references } = headerFields(headers)
  const thread = [
    ...(inReplyTo === null ? [] : [{ id: 'String 0x1042', value: inReplyTo }]),
    ...(references.length === 0 ? [] : [{ id: 'String 0x1039', value: references.join(' ') }]),
  ]
  return {
    subject,
    body: html === null ? { contentType: 'text', content: plain ?? '' } : { contentType: 'html', content: html },
    toRecipients: recipients(to),
    ccRecipients: recipients(cc),
    bccRecipients: recipients(withoutNames(bcc)),
    replyTo: recipients(replyTo),
    internetMessageId: rfcMessageId,
    singleValueExtendedProperties: [...thread, ...ownProperties(headers)],
  }
}

/** Fields whose names begin with `X-`. As MAPI properties they reach the recipients, also from mailboxes that never sent such a field. */
function ownProperties(headers: readonly Header[]) {
  return headers
    .filter(({ name }) => isOwnField(name) && name !== SENT_TOKEN_HEADER)
    .map(({ name, value }) => ({ id: `String ${INTERNET_HEADERS} Name ${name}`, value: decodedField(value) }))
}

export function isOwnField(name: string): boolean {
  return /^x-/i.test(name)
}

/** PS_INTERNET_HEADERS of [MS-OXPROPS]. */
const INTERNET_HEADERS = '{00020386-0000-0000-C000-000000000046}'

function hasSender(shown: unknown, wanted: string): boolean {
  return text(object(object(shown).emailAddress).address)?.toLowerCase() === wanted.toLowerCase()
}

function hasRecipients(shown: unknown, wanted: readonly RemoteAddress[]): boolean {
  const address = (entry: unknown) => text(object(object(entry).emailAddress).address)?.toLowerCase() ?? ''
  const expected = wanted.map(({ email }) => email.toLowerCase())
  return list(shown).map(address).sort().join() === expected.sort().join()
}

function withoutNames(emails: readonly string[]): RemoteAddress[] {
  return emails.map((email) => ({ name: '', email }))
}

function requireId(draft: Json): string {
  const id = text(draft.id)
  if (id === undefined) throw new ProviderError('unavailable', `${DOING}: Graph returned no id for the draft`)
  return id
}

function tooLarge(): ProviderError {
  return new ProviderError(
    'rejected',
    `${DOING}: without its attachments, the message is larger than the 4 MB that Microsoft accepts`,
  )
}
