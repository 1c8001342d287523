import { randomBytes } from 'node:crypto'
import type { FakeResponse } from '../fake/http-server.ts'
import type { Route, Routed } from '../fake/router.ts'
import type { Emulator } from './emulator.ts'
import { badRequest, graphError, itemNotFound } from './errors.ts'
import type { Mailboxes } from './mailbox.ts'

const ATTACHMENTS = '/v1.0/me/messages/{id}/attachments'
/** Smaller files go in one request; a session for them is refused. */
const MIN_SESSION_BYTES = 3 * 1024 * 1024 - 8192
const MAX_SESSION_BYTES = 150 * 1024 * 1024
const MAX_RANGE_BYTES = 4 * 1024 * 1024
/** The default of Exchange Online. */
const MAX_MESSAGE_BYTES = 35 * 1024 * 1024

interface Session {
  user: string
  id: string
  item: AttachmentItem
  received: Buffer[]
}

interface AttachmentItem {
  attachmentType?: string
  name?: string
  size?: number
  contentType?: string
  isInline?: boolean
  contentId?: string
}

interface AttachmentDeps {
  emulator: Emulator
  boxes: Mailboxes
  /** Where the addresses of upload sessions lead. */
  uploadOrigin(): string
  onChange(user: string, id: string): Promise<void>
}

/** Writing attachments of drafts, in one request or over an upload session, whose address needs no token and refuses one. */
export function attachmentRoutes({ emulator, boxes, uploadOrigin, onChange }: AttachmentDeps): Route[] {
  const sessions = new Map<string, Session>()
  const findDraft = ({ user, params }: Routed) => {
    const id = boxes.find(user ?? '', params.id ?? '')
    return boxes.messages(user ?? '').find((row) => row.microsoft_id === id && row.is_draft)?.microsoft_id
  }

  async function attach(user: string, id: string, item: AttachmentItem, content: Buffer): Promise<string | Response> {
    const stored = emulator.microsoft.attachments.findBy('message_microsoft_id', id)
    if (stored.reduce((sum, { size }) => sum + size, content.length) > MAX_MESSAGE_BYTES) {
      return graphError(413, 'ErrorMessageSizeExceeded', 'The message exceeds the maximum supported size.')
    }
    const { name = 'attachment', contentType = 'application/octet-stream', isInline = false, contentId = null } = item
    const attachmentId = boxes.attach(user, id, { name, contentType, content, isInline, contentId })
    await onChange(user, id)
    return attachmentId
  }

  async function add(request: Routed): Promise<Response> {
    const id = findDraft(request)
    if (id === undefined) return itemNotFound()
    const item = JSON.parse(request.body.toString() || '{}') as AttachmentItem & Record<string, unknown>
    if (item['@odata.type'] !== '#microsoft.graph.fileAttachment') return badRequest('The type is not supported.')
    const content = Buffer.from(String(item.contentBytes ?? ''), 'base64')
    const added = await attach(request.user ?? '', id, item, content)
    if (typeof added !== 'string') return added
    return Response.json({ '@odata.type': item['@odata.type'], id: added, name: item.name }, { status: 201 })
  }

  async function remove(request: Routed): Promise<Response> {
    const id = findDraft(request)
    const rows = emulator.microsoft.attachments.findBy('message_microsoft_id', id ?? '')
    const row = rows.find(({ microsoft_id }) => microsoft_id === request.params.attachment)
    if (id === undefined || row === undefined) return itemNotFound()
    emulator.microsoft.attachments.delete(row.id)
    await onChange(request.user ?? '', id)
    return new Response(null, { status: 204 })
  }

  function begin(request: Routed): Response {
    const id = findDraft(request)
    if (id === undefined) return itemNotFound()
    const { AttachmentItem: item } = JSON.parse(request.body.toString() || '{}') as { AttachmentItem?: AttachmentItem }
    if (item?.attachmentType !== 'file' || !item.name || !item.size) return badRequest('AttachmentItem is not valid.')
    if (item.size < MIN_SESSION_BYTES) {
      return graphError(400, 'ErrorAttachmentSizeShouldNotBeLessThanMinimumSize', 'The attachment is too small.')
    }
    if (item.size > MAX_SESSION_BYTES) return graphError(400, 'ErrorAttachmentSizeLimitExceeded', 'It is too large.')
    const key = randomBytes(12).toString('base64url')
    sessions.set(key, { user: request.user ?? '', id, item, received: [] })
    const path = `/api/v2.0/Users('${randomBytes(4).toString('hex')}')/Messages('${id}')/AttachmentSessions('${key}')`
    const uploadUrl = `${uploadOrigin()}${path}?authtoken=${randomBytes(12).toString('base64url')}`
    return Response.json({ uploadUrl, ...progress(0, '0-') }, { status: 201 })
  }

  async function put(request: Routed): Promise<FakeResponse> {
    const key = /^AttachmentSessions\('(.+)'\)$/.exec(request.params.session ?? '')?.[1] ?? ''
    const session = sessions.get(key)
    if (request.headers.has('authorization')) {
      return graphError(401, 'InvalidAudienceForResource', 'The audience claim value is invalid for current resource.')
    }
    if (session === undefined || !request.url.searchParams.has('authtoken')) return itemNotFound()
    const { user, id, item, received } = session
    const before = received.reduce((sum, { length }) => sum + length, 0)
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(request.headers.get('content-range') ?? '')
    const [start, end, total] = (range ?? []).slice(1).map(Number)
    const isNext = start === before && end === before + request.body.length - 1 && total === item.size
    if (!isNext || request.body.length > MAX_RANGE_BYTES) return badRequest('The range is not the next one.')
    received.push(request.body)
    const stored = before + request.body.length
    if (stored < (item.size ?? 0)) return Response.json(progress(stored))
    sessions.delete(key)
    const added = await attach(user, id, item, Buffer.concat(received))
    if (typeof added !== 'string') return added
    const location = `${uploadOrigin()}/api/v2.0/Users('x')/Messages('${id}')/Attachments('${added}')`
    return new Response(null, { status: 201, headers: { location } })
  }

  return [
    { method: 'POST', pattern: ATTACHMENTS, handle: add },
    { method: 'POST', pattern: `${ATTACHMENTS}/createUploadSession`, handle: begin },
    { method: 'DELETE', pattern: `${ATTACHMENTS}/{attachment}`, handle: remove },
    { method: 'PUT', pattern: '/api/v2.0/{user}/{message}/{session}', handle: put },
  ]
}

function progress(start: number, range = String(start)) {
  return { expirationDateTime: new Date(Date.now() + 3_600_000).toISOString(), nextExpectedRanges: [range] }
}
