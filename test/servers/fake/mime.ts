import { decodeWords } from 'postal-mime'

/** One MIME entity with its children. */
export interface MimePart {
  /** Unfolded, with encoded words decoded, in message order. */
  headers: { name: string; value: string }[]
  /** In lower case; `text/plain` when the header is missing. */
  type: string
  charset: string
  disposition: string
  filename: string
  contentId: string
  /** After transfer decoding; empty for a multipart. */
  body: Buffer
  children: MimePart[]
}

/** Parses a raw message into the tree that the providers' APIs return. Malformed messages become text. */
export function parseMime(raw: Buffer): MimePart {
  return entity(raw.toString('latin1'))
}

/** Decodes the text of a part from its charset. */
export function decodeText(part: MimePart): string {
  return decodeUtf8(part).toString('utf8')
}

/** The text of a part in UTF-8; its own bytes where the charset is unknown or wrong. */
export function decodeUtf8(part: MimePart): Buffer {
  try {
    return Buffer.from(new TextDecoder(part.charset, { fatal: true }).decode(part.body))
  } catch {
    return part.body
  }
}

/** HTML as text, as Exchange converts it: images that the message contains leave their link. */
export function plainText(html: string): string {
  return html.replace(/<img\b[^>]*\bsrc="(cid:[^"]*)"[^>]*>/gi, '[$1]').replace(/<[^>]*>/g, ' ')
}

/** The part and its descendants, in document order. */
export function* walk(part: MimePart): Generator<MimePart> {
  yield part
  for (const child of part.children) yield* walk(child)
}

export const isAttachment = (part: MimePart): boolean =>
  part.children.length === 0 &&
  (part.filename !== '' || part.disposition === 'attachment' || !/^(text|multipart)\//.test(part.type))

export const findHeader = (part: MimePart, name: string): string | undefined =>
  part.headers.find((header) => header.name.toLowerCase() === name.toLowerCase())?.value

function entity(source: string): MimePart {
  const end = /\r?\n\r?\n/.exec(source)
  const head = source.startsWith('\n') || source.startsWith('\r\n') ? '' : end ? source.slice(0, end.index) : source
  const content = head === '' ? source.replace(/^\r?\n/, '') : end ? source.slice(end.index + end[0].length) : ''
  const rawHeaders = head
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .map((line) => /^([^:\s]+):[ \t]*(.*)$/.exec(line))
    .flatMap((found) => (found?.[1] ? [{ name: found[1], value: utf8(found[2] ?? '') }] : []))
  const raw = (name: string) => rawHeaders.find((header) => header.name.toLowerCase() === name)?.value ?? ''
  const type = parameters(raw('content-type'))
  const disposition = parameters(raw('content-disposition'))
  const boundary = type.values.boundary
  const multipart = type.value.startsWith('multipart/') && boundary
  return {
    headers: rawHeaders.map(({ name, value }) => ({ name, value: decodedHeader(name, value) })),
    type: /^[^/\s]+\/[^/\s]+$/.test(type.value) ? type.value : 'text/plain',
    charset: type.values.charset ?? 'utf-8',
    disposition: disposition.value,
    filename: disposition.values.filename ?? type.values.name ?? '',
    contentId: raw('content-id'),
    body: multipart ? Buffer.alloc(0) : decoded(content, raw('content-transfer-encoding')),
    children: multipart ? split(content, boundary).map(entity) : [],
  }
}

/** A name that needs quotes once it is decoded gets them. */
function decodedHeader(name: string, value: string): string {
  if (!/^(from|to|cc|bcc|sender|reply-to)$/i.test(name)) return decodeWords(value)
  return value.replace(/=\?[^\s?]+\?[bq]\?[^?]*\?=(?:\s+=\?[^\s?]+\?[bq]\?[^?]*\?=)*/gi, (words) => {
    const decoded = decodeWords(words)
    return /[,;:<>()"@]/.test(decoded) ? `"${decoded.replace(/["\\]/g, '\\$&')}"` : decoded
  })
}

function parameters(header: string): { value: string; values: Record<string, string> } {
  const values: Record<string, string> = {}
  for (const found of header.matchAll(/;\s*([\w-]+)(\*)?\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;\s]*))/g)) {
    const text = (found[3] ?? found[4] ?? '').replace(/\\(.)/g, '$1')
    values[found[1]?.toLowerCase() ?? ''] = found[2]
      ? decodeURIComponent(text.replace(/^[^']*'[^']*'/, ''))
      : decodeWords(text)
  }
  return { value: (header.split(';')[0] ?? '').trim().toLowerCase(), values }
}

function split(content: string, boundary: string): string[] {
  const delimiter = new RegExp(`\\n--${boundary.replace(/[^\w-]/g, '\\$&')}(?=(?:--)?[ \\t]*(?:\\n|$))`)
  const marked = `\n${content.replace(/\r\n/g, '\n')}`.split(delimiter)
  const parts = marked.slice(1)
  const last = parts.findIndex((part) => part.startsWith('--'))
  return (last < 0 ? parts : parts.slice(0, last)).map((part) => part.replace(/^[ \t]*\n/, ''))
}

function decoded(content: string, encoding: string): Buffer {
  const kind = encoding.replace(/;.*/, '').trim().toLowerCase()
  if (kind === 'base64') return Buffer.concat(content.split(/=+/).map((piece) => Buffer.from(piece, 'base64')))
  if (kind !== 'quoted-printable') return Buffer.from(content, 'latin1')
  const text = content
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8')
