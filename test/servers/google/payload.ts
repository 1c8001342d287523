import { randomBytes } from 'node:crypto'
import type { GoogleMessage } from '@emulators/google'
import { decodeText, decodeUtf8, findHeader, isAttachment, type MimePart, parseMime, walk } from '../fake/mime.ts'

export type Format = 'full' | 'metadata' | 'minimal' | 'raw'

const readRaw = (message: GoogleMessage): Buffer => Buffer.from(message.raw ?? '', 'base64url')

/** A message as `users.messages.get` returns it, with every header and part of the raw message. */
export function messageResource(message: GoogleMessage, format: Format, metadataHeaders: string[] = []): object {
  const raw = readRaw(message)
  const root = parseMime(raw)
  const base = {
    id: message.gmail_id,
    threadId: message.thread_id,
    labelIds: message.label_ids,
    snippet: buildSnippet(root),
    historyId: message.history_id,
    internalDate: message.internal_date,
    sizeEstimate: raw.length,
  }
  if (format === 'minimal') return base
  if (format === 'raw') return { ...base, raw: raw.toString('base64url') }
  if (format === 'full') return { ...base, payload: part(root, '') }
  const names = metadataHeaders.map((name) => name.toLowerCase())
  const headers =
    names.length === 0 ? root.headers : root.headers.filter(({ name }) => names.includes(name.toLowerCase()))
  return { ...base, payload: { mimeType: root.type, headers } }
}

/** As at Gmail, each `get` returns a new attachment id, and all of them stay valid. */
export function findAttachment(message: GoogleMessage, id: string): object | undefined {
  const [partId] = Buffer.from(id, 'base64url').toString().split('/')
  const data = partId === undefined ? undefined : find(parseMime(readRaw(message)), '', partId)?.body
  return data && { size: data.length, data: data.toString('base64url') }
}

/** As Gmail does, with the fields of a delivery report in a part below theirs. */
function part(entity: MimePart, partId: string): object {
  if (entity.type === 'message/delivery-status') {
    const { headers, filename, type: mimeType } = entity
    const fields = { ...entity, type: 'text/plain', disposition: '', filename: '', headers: [] }
    return { partId, mimeType, filename, headers, body: { size: 0 }, parts: [part(fields, childId(partId, 0))] }
  }
  return {
    partId,
    mimeType: entity.type,
    filename: entity.filename,
    headers: entity.headers,
    body: body(entity, partId),
    ...(entity.children.length > 0
      ? { parts: entity.children.map((child, at) => part(child, childId(partId, at))) }
      : {}),
  }
}

function body(entity: MimePart, partId: string): object {
  if (entity.children.length > 0) return { size: 0 }
  if (isAttachment(entity)) {
    const attachmentId = Buffer.from(`${partId}/${randomBytes(9).toString('base64url')}`).toString('base64url')
    return { attachmentId, size: entity.body.length }
  }
  const text = decodeUtf8(entity)
  return { size: text.length, data: text.toString('base64url') }
}

function find(entity: MimePart, partId: string, wanted: string): MimePart | undefined {
  if (partId === wanted) return isAttachment(entity) ? entity : undefined
  for (const [at, child] of entity.children.entries()) {
    const found = find(child, childId(partId, at), wanted)
    if (found) return found
  }
  return undefined
}

const childId = (partId: string, at: number): string => (partId === '' ? String(at) : `${partId}.${at}`)

/** Escaped for HTML, as Gmail's snippets are. */
function buildSnippet(root: MimePart): string {
  const leaves = [...walk(root)].filter((entity) => entity.children.length === 0)
  const shown = leaves.filter((entity) => !isAttachment(entity))
  const texts = shown.length > 0 ? shown : leaves.filter(({ type }) => type.startsWith('text/'))
  const chosen = texts.find((entity) => entity.type === 'text/plain') ?? texts[0]
  const text = chosen ? decodeText(chosen).replace(/<[^>]*>/g, ' ') : (findHeader(root, 'subject') ?? '')
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 200)
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
