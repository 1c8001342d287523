import { createHash } from 'node:crypto'
import { cleanText } from '../../lib/text.ts'
import type { FoundMessage, MessageBody } from '../contract/index.ts'
import { headerFields, htmlToText, keptSnippet, keptText } from '../mime/index.ts'
import { labelState } from './labels.ts'
import { attachmentsOf, headersOf, isBodyPart, leafParts, type Part, partText, record, text } from './parts.ts'

/** How much base64 of a text is decoded: 4 KB of it are kept, and HTML is mostly not words. */
const DECODED_CHARS = 64 * 1024

/** Everything a message is made of, its texts among it. Attachments never come along. */
export const MESSAGE_FIELDS = 'id,threadId,labelIds,snippet,historyId,internalDate,sizeEstimate,payload'

/** The same without any text, for a message that is too long: masks reach as deep as they are written. */
export const LEAN_FIELDS = `id,threadId,labelIds,snippet,historyId,internalDate,sizeEstimate,payload(${leanPart(6)})`

function leanPart(depth: number): string {
  const own = 'partId,mimeType,filename,headers,body(attachmentId,size)'
  return depth === 0 ? own : `${own},parts(${leanPart(depth - 1)})`
}

/** Labels alone. */
export const STATE_FIELDS = 'id,labelIds'

/** A message in this service's terms. Never throws: what cannot be read is left empty. */
export function foundMail(
  id: string,
  body: unknown,
  { isNew, nowMs }: { isNew: boolean; nowMs: number },
): FoundMessage {
  const fields = record(body)
  const payload = record(fields.payload)
  const headers = headersOf(payload.headers)
  const parts = leafParts(payload)
  const known = headerFields(headers)
  const { folders, ...flags } = labelState(labelsOf(fields))
  const words = firstText(parts)
  const receivedMs = Number(text(fields.internalDate) ?? Number.NaN)
  return {
    folders,
    message: {
      ...{ providerMessageId: id, isNew, emailId: null, threadId: text(fields.threadId) ?? null },
      ...known,
      receivedAt: Number.isSafeInteger(receivedMs) && receivedMs >= 0 ? receivedMs : (known.date ?? nowMs),
      sizeBytes: typeof fields.sizeEstimate === 'number' ? Math.max(0, Math.trunc(fields.sizeEstimate)) : 0,
      ...flags,
      // Gmail's own is escaped as HTML.
      snippet: keptSnippet(words === '' ? htmlToText(text(fields.snippet) ?? '') : words),
      text: words === '' ? keptText(htmlToText(text(fields.snippet) ?? '')) : words,
      attachments: attachmentsOf(parts),
      headerHash: createHash('sha256').update(JSON.stringify(headers)).digest('hex'),
      error: fields.payload === undefined ? 'the answer of Gmail about this message could not be read' : null,
    },
  }
}

/** The labels of a message; a message without any has no such member. */
export function labelsOf(message: unknown): string[] {
  const { labelIds } = record(message)
  return Array.isArray(labelIds) ? labelIds.filter((id) => typeof id === 'string') : []
}

function firstText(parts: readonly Part[]): string {
  for (const type of ['text/plain', 'text/html'] as const) {
    const part = parts.find((one) => isBodyPart(one, type) && one.data !== undefined && one.data !== '')
    if (part?.data === undefined) continue
    const bytes = Buffer.from(part.data.slice(0, DECODED_CHARS), 'base64url')
    const content = partText(part, bytes, part.data.length > DECODED_CHARS)
    const words = keptText(type === 'text/html' ? htmlToText(content) : content)
    if (words !== '') return words
  }
  return ''
}

/** `bytesOf` fetches the text of a part that Gmail left out because it is long. */
export async function messageBody(message: unknown, bytesOf: (part: Part) => Promise<Buffer>): Promise<MessageBody> {
  const payload = record(record(message).payload)
  const parts = leafParts(payload)
  const joined = async (type: 'text/plain' | 'text/html') => {
    const texts: string[] = []
    for (const part of parts.filter((one) => isBodyPart(one, type))) {
      const bytes = part.data === undefined ? await bytesOf(part) : Buffer.from(part.data, 'base64url')
      texts.push(partText(part, bytes).replaceAll('\r\n', '\n'))
    }
    return texts.length === 0 ? null : cleanText(texts.join('\n'))
  }
  const headers = headersOf(payload.headers).map(({ name, value }) => ({
    name: cleanText(name),
    value: cleanText(value),
  }))
  return { text: await joined('text/plain'), html: await joined('text/html'), headers }
}
