import { type Header, headerValue, parseHeaders } from './headers.ts'
import { transferDecoder } from './transfer-decoding.ts'

/** A message or a part of one, from its bytes, which may end anywhere. */
export interface RawEntity {
  headers: Header[]
  /** In lower case. */
  type: string
  /** Encoded. */
  body: Buffer
}

const LF = 0x0a
const CR = 0x0d
const MAX_HEADER_BYTES = 64 * 1024
const MAX_PARTS = 20
/** RFC 2046 permits 70. */
const MAX_BOUNDARY = 100
const MAX_FIELD = 1000

export function rawEntity(bytes: Buffer): RawEntity {
  const end = headerEnd(bytes)
  const headers = parseHeaders(bytes.subarray(0, Math.min(end, MAX_HEADER_BYTES)))
  const type = (headerValue(headers, 'content-type') ?? 'text/plain').slice(0, MAX_FIELD).split(';')[0] ?? ''
  const isEmpty = bytes[end] === undefined
  return { headers, type: type.trim().toLowerCase(), body: isEmpty ? Buffer.alloc(0) : bytes.subarray(end) }
}

/** Where the body begins. */
function headerEnd(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] === LF) return at + 1
    if (bytes[at] === CR && bytes[at + 1] === LF) return at + 2
    const next = bytes.indexOf(LF, at)
    if (next === -1) break
    at = next + 1
  }
  return bytes.length
}

/** A parameter of the content type. */
export function parameterOf({ headers }: RawEntity, name: string): string | undefined {
  const value = (headerValue(headers, 'content-type') ?? '').slice(0, MAX_FIELD)
  const [, quoted, plain] = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^\\s;"]+))`, 'i').exec(value) ?? []
  return quoted ?? plain
}

/** The first parts of a multipart. The last one may be incomplete. */
export function childrenOf(entity: RawEntity): RawEntity[] {
  const boundary = entity.type.startsWith('multipart/') ? parameterOf(entity, 'boundary') : undefined
  if (boundary === undefined || boundary === '' || boundary.length > MAX_BOUNDARY) return []
  const { body } = entity
  const delimiter = Buffer.from(`--${boundary}`)
  const parts: RawEntity[] = []
  let start: number | undefined
  for (let at = body.indexOf(delimiter); at !== -1; at = body.indexOf(delimiter, at + delimiter.length)) {
    if (at > 0 && body[at - 1] !== LF) continue
    const lineEnd = body.indexOf(LF, at)
    const rest = body.toString(
      'latin1',
      at + delimiter.length,
      Math.min(lineEnd === -1 ? body.length : lineEnd, at + 300),
    )
    if (!/^(--)?[ \t]*\r?$/.test(rest)) continue
    if (start !== undefined) parts.push(rawEntity(body.subarray(start, Math.max(start, withoutLineEnd(body, at)))))
    if (rest.startsWith('--') || lineEnd === -1 || parts.length === MAX_PARTS) return parts
    start = lineEnd + 1
  }
  if (start !== undefined) parts.push(rawEntity(body.subarray(start)))
  return parts
}

/** The line end before a delimiter is a part of it. */
function withoutLineEnd(body: Buffer, at: number): number {
  return body[at - 2] === CR ? at - 2 : at - 1
}

/** The beginning of the body, decoded. */
export function decodedBody({ headers, body }: RawEntity, maxBytes: number): Buffer {
  const decoder = transferDecoder(headerValue(headers, 'content-transfer-encoding') ?? '')
  return Buffer.concat([decoder.write(body.subarray(0, maxBytes)), decoder.end()]).subarray(0, maxBytes)
}
