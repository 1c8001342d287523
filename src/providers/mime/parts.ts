import PostalMime from 'postal-mime'
import { TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import { withoutFileName } from './content-type.ts'
import { type Header, headerValue, parseHeaders } from './headers.ts'

/** A message of `composeMessage` as its parts, for providers that take large messages in pieces. */
export interface ComposedParts {
  headers: Header[]
  /** Of the text and the HTML, as they are encoded. */
  bodyBytes: number
  /** Decodes in one go, so check `bodyBytes` first. */
  body(): Promise<{ text: string | null; html: string | null }>
  attachments: ComposedAttachment[]
}

export interface ComposedAttachment {
  filename: string
  contentType: string
  /** Set: shown inside the HTML body. */
  contentId: string | null
  /** Decoded with each call, so that one attachment at a time is in memory. */
  content(): Promise<Buffer>
}

interface Leaf {
  head: Buffer
  headers: Header[]
  body: Buffer
}

const END_OF_HEADER = '\r\n\r\n'

/** Takes apart what `composeMessage` made. Finds positions only, so that the size of attachments costs no time. */
export async function composedParts(raw: Buffer): Promise<ComposedParts> {
  const all = [...leaves(raw)]
  const find = (type: string) => all.find((leaf) => isBody(leaf) && typeOf(leaf) === type)
  const [plain, html] = [find('text/plain'), find('text/html')]
  const attachments: ComposedAttachment[] = []
  for (const leaf of all) if (leaf !== plain && leaf !== html) attachments.push(await attachmentOf(leaf))
  return {
    headers: leafOf(raw).headers,
    bodyBytes: (plain?.body.length ?? 0) + (html?.body.length ?? 0),
    body: async () => ({
      text: plain === undefined ? null : ((await parsed(plain)).text ?? ''),
      html: html === undefined ? null : ((await parsed(html)).html ?? ''),
    }),
    attachments,
  }
}

function parsed({ head, body }: Pick<Leaf, 'head' | 'body'>, options = {}) {
  return PostalMime.parse(Buffer.concat([head, Buffer.from(END_OF_HEADER), body]), options)
}

function* leaves(entity: Buffer): Generator<Leaf> {
  const leaf = leafOf(entity)
  const boundary = /^multipart\/.*\bboundary="?([^";]+)/i.exec(headerValue(leaf.headers, 'content-type') ?? '')?.[1]
  if (boundary === undefined) {
    yield leaf
    return
  }
  const delimiter = `\r\n--${boundary}`
  // The line end of the first delimiter is that of the blank line after the header.
  let start: number | undefined
  for (let at = entity.indexOf(delimiter, leaf.head.length); at !== -1; at = entity.indexOf(delimiter, at + 2)) {
    const end = at + delimiter.length
    const next = entity.toString('latin1', end, end + 2)
    // Another boundary begins with this one.
    if (next !== '\r\n' && next !== '--') continue
    if (start !== undefined) yield* leaves(entity.subarray(start, at))
    if (next === '--') return
    start = end + 2
  }
}

function leafOf(entity: Buffer): Leaf {
  const end = entity.indexOf(END_OF_HEADER)
  const head = end === -1 ? entity : entity.subarray(0, end)
  const body = entity.subarray(Math.min(entity.length, head.length + END_OF_HEADER.length))
  return { head, headers: parseHeaders(head), body }
}

function typeOf({ headers }: Leaf): string {
  return (headerValue(headers, 'content-type') ?? 'text/plain').split(';')[0]?.trim().toLowerCase() ?? ''
}

function isBody(leaf: Leaf): boolean {
  const hasDisposition = headerValue(leaf.headers, 'content-disposition') !== undefined
  return !hasDisposition && (typeOf(leaf) === 'text/plain' || typeOf(leaf) === 'text/html')
}

/** Parses the header only: names may be encoded in two ways and over several parameters. */
async function attachmentOf({ head, headers, body }: Leaf): Promise<ComposedAttachment> {
  const empty = await parsed({ head, body: Buffer.alloc(0) }, { forceRfc822Attachments: true })
  const [named] = empty.attachments
  const encoding = headerValue(headers, 'content-transfer-encoding')?.toLowerCase()
  return {
    filename: named?.filename ?? 'attachment',
    contentType: withoutFileName(headerValue(headers, 'content-type') ?? '') ?? 'application/octet-stream',
    contentId: named?.contentId?.replace(/^<|>$/g, '') ?? null,
    content: () => (encoding === 'base64' ? decodedBase64(body) : Promise.resolve(body)),
  }
}

/** Complete lines: `composeMessage` writes 76 characters and a line end. */
const SLICE = 78 * 8192

async function decodedBase64(body: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let start = 0; start < body.length; start += SLICE) {
    chunks.push(Buffer.from(body.toString('latin1', start, start + SLICE), 'base64'))
    await yieldIfHeld(TURN_MS)
  }
  return Buffer.concat(chunks)
}
