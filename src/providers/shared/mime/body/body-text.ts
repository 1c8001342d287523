import { cleanText } from '../../../../platform/formats/text.ts'
import type { RemoteAttachment } from '../../../contract/index.ts'
import { decodeText } from '../decoding/charset.ts'
import { cleanField } from '../headers/headers.ts'
import type { Part } from '../tree/part.ts'
import { decodedContent } from '../tree/raw-tree.ts'
import { attachmentName } from './attachments.ts'
import type { BodyPlan } from './body-plan.ts'
import { joinFlowedLines } from './flowed.ts'
import { htmlToText } from './html-to-text.ts'
import { searchText, snippet } from './snippet.ts'

/** The text of a part, from its content as it is stored. */
export function partText(part: Part, content: Buffer): string {
  return decodePartText(part, decodedContent(content, part.encoding))
}

/** The text of a part, from its content without transfer encoding. */
export function decodePartText(part: Part, bytes: Buffer): string {
  const text = decodeText(withLineFeeds(bytes, part.charset), part)
  if (part.type === 'text/html' || part.flow === 'fixed') return text
  return joinFlowedLines(text, { delSp: part.flow === 'flowed-delsp' })
}

const [CR, LF] = [0x0d, 0x0a]

/** The bytes with LF as line ends. In a string of many lines, the same would take ten times as long. */
function withLineFeeds(bytes: Buffer, charset = ''): Buffer {
  if (!bytes.includes(CR) || /utf-?(?:16|32)|ucs|unicode/i.test(charset)) return bytes
  const lines = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === CR && bytes[at + 1] === LF) continue
    lines[length] = byte
    length += 1
  }
  return lines.subarray(0, length)
}

/** Text and HTML as a message shows them. Each is null when no part of the message has this form. */
export function composedBody(
  { text, html }: BodyPlan,
  read: (part: Part) => string,
): { text: string | null; html: string | null } {
  const hasText = text.some((part) => part.type !== 'text/html')
  const hasHtml = html.some((part) => part.type === 'text/html')
  return {
    text: hasText ? cleaned(text.map((part) => plainForm(part, read(part)))) : null,
    html: hasHtml ? cleaned(html.map((part) => htmlForm(part, read(part)))) : null,
  }
}

function cleaned(pieces: readonly string[]): string {
  return cleanText(pieces.join('\n').replaceAll('\r\n', '\n'))
}

function plainForm({ type }: Part, text: string): string {
  return type === 'text/html' ? htmlToText(text) : text
}

function htmlForm({ type }: Part, text: string): string {
  return type === 'text/html' ? text : `<div style="white-space: pre-wrap">${escaped(text)}</div>`
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char)
}

/** The beginning of what a person reads, for search and the list. `read` returns undefined for a part whose content is not at hand. */
export function shownText(
  { text, html }: BodyPlan,
  read: (part: Part) => string | undefined,
): { text: string; snippet: string } {
  const words = joinTexts(text, read) || joinTexts(html, read)
  return { text: searchText(words), snippet: snippet(words) }
}

/** Limits the text of a part, in UTF-16 units. Only 4 KB of its words are wanted. */
const MAX_SHOWN = 256 * 1024

function joinTexts(parts: readonly Part[], read: (part: Part) => string | undefined): string {
  const pieces = parts.map((part) => plainForm(part, (read(part) ?? '').slice(0, MAX_SHOWN)).trim())
  return pieces.filter((piece) => piece !== '').join('\n')
}

/** The HTML, if it may show a file. Undefined when some of it is not at hand. */
export function htmlForFiles({ html, files }: BodyPlan, read: (part: Part) => string | undefined): string | undefined {
  if (!files.some(({ part }) => part.contentId !== undefined || part.contentLocation !== undefined)) return ''
  const texts = html.filter(({ type }) => type === 'text/html').map(read)
  return texts.includes(undefined) ? undefined : texts.join('\n')
}

const MAX_ATTACHMENTS = 200
const MAX_TYPE = 255

/**
 * The attachments of a message. Inline are those that the HTML shows by their Content-ID or location. `html` is undefined where it is not at
 * hand: then those beside it that have a Content-ID count as shown.
 */
export function mapAttachments({ files }: BodyPlan, html: string | undefined): RemoteAttachment[] {
  if (files.length === 0) return []
  const shown = html === undefined ? undefined : findReferences(html)
  return files.slice(0, MAX_ATTACHMENTS).map(({ part, isRelated }) => ({
    id: part.id,
    filename: attachmentName(part),
    contentType: cleanField(part.type, MAX_TYPE),
    sizeBytes: part.sizeBytes ?? estimatedSize(part),
    inline: shown === undefined ? isRelated && part.contentId !== undefined : isIn(shown, part),
    contentId: part.contentId ?? null,
  }))
}

function isIn(shown: ReadonlySet<string>, { contentId, contentLocation }: Part): boolean {
  return (
    (contentId !== undefined && shown.has(contentId.toLowerCase())) ||
    (contentLocation !== undefined && shown.has(contentLocation.toLowerCase()))
  )
}

const REFERENCE = /\bcid:([^"'\s<>)]{1,255})|\b(?:src|background)\s*=\s*["']?([^"'\s<>]{1,255})/gi
const MAX_REFERENCES = 5000

/** The Content-IDs and addresses that HTML shows, in lower case. */
function findReferences(html: string): Set<string> {
  const found = new Set<string>()
  for (const [, cid, address] of html.matchAll(REFERENCE)) {
    const reference = (cid ?? address ?? '').replace(/^cid:/i, '')
    found.add(unescaped(reference).toLowerCase())
    if (found.size > MAX_REFERENCES) break
  }
  return found
}

/** Without the percent escapes of an address and the `&amp;` of HTML. */
function unescaped(reference: string): string {
  const text = reference.replaceAll('&amp;', '&')
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** Base64 in lines of 76 characters encodes 57 bytes in 78; other encodings hardly change the size. */
function estimatedSize({ encoding, encodedBytes }: Part): number {
  return /^\s*"?base64/i.test(encoding) ? Math.floor((encodedBytes * 57) / 78) : encodedBytes
}
