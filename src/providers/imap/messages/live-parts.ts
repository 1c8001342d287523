import type { FetchMessageObject, ImapFlow } from 'imapflow'
import { type MessageBody, ProviderError } from '../../contract/index.ts'
import {
  allParts,
  bodyPlan,
  composedBody,
  declaredCharset,
  describePart,
  headerValue,
  type Part,
  parseHeaders,
  partText,
  readMessage,
  transferDecoder,
} from '../../shared/mime/index.ts'
import { asBuffer } from './fetch.ts'
import { readSource } from './source.ts'
import { isUnsplit, structureParts } from './structure.ts'

/** Cuts off longer text parts. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
const MAX_HEADER_BYTES = 1024 * 1024
const MAX_PART_HEADER_BYTES = 64 * 1024
/** Text parts that are read; further ones are left out. */
const MAX_TEXTS = 100

export const firstByte = { key: 'header', start: 0, maxLength: 1 }
export const header = { key: 'header', start: 0, maxLength: MAX_HEADER_BYTES }

export function notFound(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: it is no longer in this folder`)
}

/** NIL is an empty part, or that of a message that was just deleted, which the server reports with the NOOP. */
export async function ensurePresent(imap: ImapFlow, range: string, doing: string): Promise<void> {
  await imap.noop()
  if (!(await imap.fetchOne(range, { uid: true, flags: true }, { uid: true }))) throw notFound(doing)
}

/** Whether the message has exactly this size. Some servers, such as Exchange, only estimate RFC822.SIZE. */
export async function endsAt(imap: ImapFlow, range: string, sizeBytes: number): Promise<boolean> {
  const source = { start: sizeBytes - 1, maxLength: 2 }
  const row = await imap.fetchOne(range, { uid: true, source }, { uid: true })
  return asBuffer(row ? row.source : undefined)?.length === 1
}

/** Undefined for a message without readable structure. */
export async function structuredBody(
  imap: ImapFlow,
  range: string,
  row: FetchMessageObject,
): Promise<MessageBody | undefined> {
  if (row.bodyStructure === undefined) return undefined
  const block = asBuffer(row.headers) ?? Buffer.alloc(0)
  const described = structureParts(row.bodyStructure)
  if (isUnsplit(described)) return undefined
  const headers = parseHeaders(block, declaredCharset(described))
  const root = described.children.length > 0 ? described : describePart(headers, { ...described, children: [] })
  const plan = bodyPlan(root)
  const texts = new Map<string, string>()
  for (const part of new Set([...plan.text, ...plan.html].slice(0, MAX_TEXTS))) {
    const query = { uid: true, bodyParts: [{ key: part.id, start: 0, maxLength: MAX_BODY_BYTES }] }
    const found = await imap.fetchOne(range, query, { uid: true })
    const content = asBuffer(found ? found.bodyParts?.get(part.id.toLowerCase()) : undefined)
    texts.set(part.id, content === undefined ? '' : partText(part, content))
  }
  return { ...composedBody(plan, ({ id }) => texts.get(id) ?? ''), headers }
}

/** For a message without readable structure: what its beginning contains. */
export async function sourceBody(imap: ImapFlow, range: string): Promise<MessageBody> {
  const source = await readSource(imap, range)
  if (source === undefined) throw notFound('reading a message')
  const { body, headers } = await readMessage(source.bytes, source)
  return { ...body, headers }
}

interface FoundPart {
  part: Part
  /** As it is stored, where the structure cannot be read. */
  content: Buffer | undefined
}

/** A part by its number, with what its own header says. Undefined when the structure has none, or cannot be read. */
export async function findPart(imap: ImapFlow, range: string, id: string): Promise<Part | undefined> {
  const sections = [header, { key: `${id}.mime`, start: 0, maxLength: MAX_PART_HEADER_BYTES }]
  const row = await imap.fetchOne(range, { uid: true, bodyStructure: true, bodyParts: sections }, { uid: true })
  if (!row || row.bodyStructure === undefined) return undefined
  const root = structureParts(row.bodyStructure)
  const part = allParts(root).find((part) => part.id === id && part.children.length === 0)
  const block = part === root ? asBuffer(row.headers) : asBuffer(row.bodyParts?.get(`${id}.mime`))
  if (part === undefined || block === undefined) return part
  const headers = parseHeaders(block, declaredCharset(root))
  return headerValue(headers, 'content-type') === undefined ? part : describePart(headers, { ...part, children: [] })
}

export async function partOfSource(imap: ImapFlow, range: string, id: string): Promise<FoundPart | undefined> {
  const source = await readSource(imap, range)
  if (source === undefined) throw notFound('reading an attachment')
  return (await readMessage(source.bytes, source)).find(id)
}

export async function* decode(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  encoding: string,
): AsyncGenerator<Buffer> {
  const decoder = transferDecoder(encoding)
  for await (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}
