import type { MessageStructureObject } from 'imapflow'
import PostalMime from 'postal-mime'
import { decodeBytes, htmlToText, searchText } from '../mime/index.ts'
import { isBodyText, type Leaf, leaves } from './structure.ts'
import { transferDecoder } from './transfer-decoding.ts'

/** How much of the body is fetched along: its first text nearly always begins there, and 4 KB of it are kept. */
export const TEXT_BYTES = 16 * 1024

/**
 * The first readable text of a message from its structure and the beginning of its body. `missing` is the part to fetch
 * for it when it begins later. A whole MIME parser was tried here: it took three times as long as everything else.
 */
export function beginningText(structure: MessageStructureObject, body: Buffer): { text: string; missing?: Leaf } {
  const parts = leaves(structure)
  // A multipart that cannot be divided has only empty parts: people still want to read it.
  if (parts.every((leaf) => leaf.sizeBytes === 0)) return { text: searchText(decodeBytes(body)) }
  for (const type of ['text/plain', 'text/html'] as const) {
    const leaf = parts.find((one) => isBodyText(one, type) && one.sizeBytes > 0)
    if (leaf === undefined) continue
    const path = leaf.part.split('.').map(Number)
    const content = structure.childNodes === undefined ? body : partOf(structure, body, path)
    if (content === undefined || content.length === 0) return { text: '', missing: leaf }
    const text = readableText(leaf, content)
    if (text !== '') return { text }
  }
  return { text: '' }
}

/** What is kept and searched of a part: its text, or the words of its HTML. */
export function readableText(leaf: Leaf, content: Buffer): string {
  const text = decodeText(leaf, content)
  return searchText(leaf.type === 'text/html' ? htmlToText(text) : text)
}

/** A text part with its transfer encoding and charset undone. An unknown charset is read as its bytes suggest. */
export function decodeText(leaf: Leaf, content: Buffer): string {
  const decoder = transferDecoder(leaf.encoding)
  const bytes = Buffer.concat([decoder.write(content), decoder.end()])
  const charset = leaf.charset?.trim().toLowerCase() ?? ''
  if (charset === '' || charset === 'us-ascii') return decodeBytes(bytes)
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return decodeBytes(bytes)
  }
}

/** For a message without readable structure: whatever text a lenient parser finds in the beginning of its source. */
export async function unstructuredText(source: Buffer): Promise<string> {
  const { text, html } = await parseSource(source)
  return searchText(text?.trim() ? text : htmlToText(html ?? ''))
}

/** The text and the HTML of a mail, as far as its first lines hold them. Throws for what nobody can parse. */
export async function parseSource(source: Buffer): Promise<{ text: string | null; html: string | null }> {
  const { text, html } = await PostalMime.parse(firstLines(source), {
    maxNestingDepth: 100,
    attachmentEncoding: 'arraybuffer',
  })
  return { text: text ?? null, html: html ?? null }
}

/** The parser keeps two kilobytes for each line, however short: a mail of nothing but line ends took 2 GB and 7 s. */
const LINES_LIMIT = 10_000

function firstLines(source: Buffer): Buffer {
  let end = 0
  for (let count = 0; count < LINES_LIMIT; count += 1) {
    const next = source.indexOf(LF, end)
    if (next === -1) return source
    end = next + 1
  }
  return source.subarray(0, end)
}

/** The bytes of a part as far as they stand in `body`, or undefined when it begins later. */
function partOf(node: MessageStructureObject, body: Buffer, [number, ...rest]: number[]): Buffer | undefined {
  if (number === undefined) return body
  const [boundary, child] = [node.parameters?.boundary, node.childNodes?.[number - 1]]
  if (boundary === undefined || boundary === '' || child === undefined) return undefined
  let start = -1
  for (let count = 0; count < number; count += 1) {
    start = delimiterAfter(body, boundary, start)
    if (start === -1) return undefined
  }
  const end = delimiterAfter(body, boundary, start)
  const block = body.subarray(start, end === -1 ? undefined : body.lastIndexOf(`--${boundary}`, end - 1))
  const content = afterHeaders(block)
  return content === undefined ? undefined : partOf(child, content, rest)
}

/** Where the line after the next delimiter begins, or -1. A delimiter stands at the beginning of a line. */
function delimiterAfter(body: Buffer, boundary: string, from: number): number {
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
