import { isAscii } from 'node:buffer'
import type { MessageStructureObject } from 'imapflow'
import PostalMime from 'postal-mime'
import { cleanText, truncateText } from '../../lib/text.ts'
import type { RemoteAttachment } from '../contract/index.ts'
import { attachmentName, bareContentId, decodeBytes, htmlToText, searchText, transferDecoder } from '../mime/index.ts'

/** A part with content, as BODYSTRUCTURE describes it. */
export interface Leaf {
  /** The part number for `BODY[1.2]`. */
  part: string
  type: string
  charset: string | undefined
  encoding: string
  /** Encoded, as stored at the server. */
  sizeBytes: number
  filename: string | undefined
  disposition: string | undefined
  contentId: string | undefined
}

const MAX_ATTACHMENTS = 200
const MAX_TYPE = 255

/** The parts of a message in order. An attached message (message/rfc822) is one part, without its own parts. */
export function leaves(root: MessageStructureObject): Leaf[] {
  if (root.type !== 'message/rfc822' && root.childNodes !== undefined) return root.childNodes.flatMap(leaves)
  const filename = root.dispositionParameters?.filename ?? root.parameters?.name
  return [
    {
      part: root.part ?? '1',
      type: root.type,
      charset: root.parameters?.charset,
      encoding: root.encoding ?? '7bit',
      sizeBytes: root.size ?? 0,
      filename,
      disposition: root.disposition,
      contentId: root.id,
    },
  ]
}

/** A part that mail programs show as the message itself. */
export function isBodyText(leaf: Leaf, type: 'text/plain' | 'text/html'): boolean {
  return leaf.type === type && leaf.disposition !== 'attachment' && leaf.filename === undefined
}

export function attachmentsOf(all: readonly Leaf[]): RemoteAttachment[] {
  return all
    .filter((leaf) => !isBodyText(leaf, 'text/plain') && !isBodyText(leaf, 'text/html'))
    .slice(0, MAX_ATTACHMENTS)
    .map((leaf) => ({
      id: leaf.part,
      filename: attachmentName({ ...leaf, id: leaf.part }),
      contentType: truncateText(cleanText(leaf.type), MAX_TYPE),
      sizeBytes: decodedSize(leaf),
      inline: leaf.disposition === 'inline' || (leaf.disposition === undefined && leaf.contentId !== undefined),
      contentId: bareContentId(leaf.contentId),
    }))
}

/** Base64 in lines of 76 characters encodes 57 bytes in 78; other encodings hardly change the size. */
function decodedSize(leaf: Leaf): number {
  return leaf.encoding === 'base64' ? Math.floor((leaf.sizeBytes * 57) / 78) : leaf.sizeBytes
}

/** How much of the body is fetched with the message. The first text nearly always begins there, and 4 KB of it are stored. */
export const TEXT_BYTES = 16 * 1024

/**
 * Finds the first text of a message in its structure and the beginning of its body. `missing` is the text part that begins later. A
 * complete MIME parser took three times as long as everything else.
 */
export function firstText(structure: MessageStructureObject, body: Buffer): { text: string; missing?: Leaf } {
  const parts = leaves(structure)
  // A multipart that the server could not split has only empty parts.
  if (parts.every((leaf) => leaf.sizeBytes === 0)) return { text: searchText(decodeBytes(body)) }
  for (const type of ['text/plain', 'text/html'] as const) {
    const leaf = parts.find((one) => isBodyText(one, type) && one.sizeBytes > 0)
    if (leaf === undefined) continue
    const path = leaf.part.split('.').map(Number)
    const content = structure.childNodes === undefined ? body : partOf(structure, body, path)
    if (content === undefined || content.length === 0) return { text: '', missing: leaf }
    const text = searchTextOf(leaf, content)
    if (text !== '') return { text }
  }
  return { text: '' }
}

/** The beginning of a part's text, as stored for search. */
export function searchTextOf(leaf: Leaf, content: Buffer): string {
  const text = decodeText(leaf, content)
  return searchText(leaf.type === 'text/html' ? htmlToText(text) : text)
}

/** Undoes the transfer encoding and the charset of a text part. Guesses the charset when the declared one is unknown. */
export function decodeText(leaf: Leaf, content: Buffer): string {
  const decoder = transferDecoder(leaf.encoding)
  const bytes = Buffer.concat([decoder.write(content), decoder.end()])
  const charset = leaf.charset?.trim().toLowerCase() ?? ''
  if (charset === '' || charset === 'us-ascii') return decodeBytes(bytes)
  // As `decodeBytes` does: most texts are plain, and making a decoder takes longer than decoding one.
  if (charset === 'utf-8' && isAscii(bytes)) return bytes.toString('latin1')
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return decodeBytes(bytes)
  }
}

/** For a message without readable structure: the text that a lenient parser finds in the beginning of its source. */
export async function unstructuredText(source: Buffer): Promise<string> {
  const { text, html } = await parseSource(source)
  return searchText(text?.trim() ? text : htmlToText(html ?? ''))
}

/** Parses the beginning of a message. Both are null when no parser can read it. */
export async function parseSource(source: Buffer): Promise<{ text: string | null; html: string | null }> {
  const lines = firstLines(source)
  try {
    const { text, html } = await PostalMime.parse(lines, { maxNestingDepth: 100, attachmentEncoding: 'arraybuffer' })
    return { text: text ?? null, html: html ?? null }
  } catch {
    // The package throws all sorts of errors at hostile messages.
    return { text: null, html: null }
  }
}

/** postal-mime uses two kilobytes per line, however short: a message of only line ends took 2 GB and 7 s. */
const MAX_LINES = 10_000

function firstLines(source: Buffer): Buffer {
  let end = 0
  for (let count = 0; count < MAX_LINES; count += 1) {
    const next = source.indexOf(LF, end)
    if (next === -1) return source
    end = next + 1
  }
  return source.subarray(0, end)
}

/** The bytes of a part as far as `body` contains them; undefined when the part begins later. */
function partOf(node: MessageStructureObject, body: Buffer, [number, ...rest]: number[]): Buffer | undefined {
  if (number === undefined) return body
  const [boundary, child] = [node.parameters?.boundary, node.childNodes?.[number - 1]]
  if (boundary === undefined || boundary === '' || child === undefined) return undefined
  let start = -1
  for (let count = 0; count < number; count += 1) {
    start = afterDelimiter(body, boundary, start)
    if (start === -1) return undefined
  }
  const end = afterDelimiter(body, boundary, start)
  const block = body.subarray(start, end === -1 ? undefined : body.lastIndexOf(`--${boundary}`, end - 1))
  const content = afterHeaders(block)
  return content === undefined ? undefined : partOf(child, content, rest)
}

/** Where the line after the next delimiter begins, or -1. A delimiter begins a line. */
function afterDelimiter(body: Buffer, boundary: string, from: number): number {
  for (let at = Math.max(0, from); ; at += 1) {
    at = body.indexOf(`--${boundary}`, at)
    if (at === -1) return -1
    if (at > 0 && body[at - 1] !== LF) continue
    const lineEnd = body.indexOf(LF, at)
    return lineEnd === -1 ? -1 : lineEnd + 1
  }
}

const LF = 10

function afterHeaders(block: Buffer): Buffer | undefined {
  for (let line = 0; line < block.length; ) {
    const lineEnd = block.indexOf(LF, line)
    if (lineEnd === -1) return undefined
    const isEmpty = lineEnd === line || (lineEnd === line + 1 && block[line] === 13)
    line = lineEnd + 1
    if (isEmpty) return block.subarray(line)
  }
  return undefined
}
