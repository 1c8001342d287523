import { findHeader, type MimePart, parseMime, walk } from '../fake/mime.ts'
import type { Routed } from '../fake/router.ts'
import type { Emulator, FolderRow } from './emulator.ts'
import type { Mailboxes } from './mailbox.ts'

export type Resource = Record<string, unknown>

/** The representation of messages that a request asks for. */
export interface View {
  immutable: boolean
  /** `Prefer: outlook.body-content-type="text"`. */
  asText: boolean
  select: string | null
  expand: string | null
}

/** `query` belongs to the request, or to the first request of its delta round. */
export function readView(request: Routed, query: URLSearchParams = request.url.searchParams): View {
  const prefer = request.headers.get('prefer') ?? ''
  return {
    immutable: /IdType\s*=\s*"ImmutableId"/i.test(prefer),
    asText: /outlook\.body-content-type\s*=\s*"?text"?/i.test(prefer),
    select: query.get('$select'),
    expand: query.get('$expand'),
  }
}

/** One message by its immutable id; undefined when it has been deleted. */
export async function messageResource(
  emulator: Emulator,
  boxes: Mailboxes,
  user: string,
  id: string,
  view: View,
): Promise<Resource | undefined> {
  const response = await emulator.request(`/v1.0/me/messages/${id}`, { user })
  return response.ok ? messageView((await response.json()) as Resource, boxes, view) : undefined
}

/** Adds the fields that the emulator lacks, and reduces the message to the requested fields. */
export function messageView(shown: Resource, boxes: Mailboxes, view: View): Resource {
  const id = String(shown.id)
  const { attachments, ...rest } = shown
  const expanded = view.expand ?? ''
  const complete: Resource = {
    '@odata.etag': `W/"${Buffer.from(`${id}${shown.lastModifiedDateTime}`).toString('base64url').slice(-24)}"`,
    ...rest,
    id: view.immutable ? id : boxes.movingId(id),
    flag: { flagStatus: boxes.isFlagged(id) ? 'flagged' : 'notFlagged' },
    inferenceClassification: 'focused',
    ...(view.asText ? { body: { contentType: 'text', content: boxes.textOf(id) } } : {}),
    ...(expanded.startsWith('attachments') ? { attachments } : {}),
  }
  const properties = extendedProperties(expanded, boxes.rawOf(id))
  if (properties.length > 0) complete.singleValueExtendedProperties = properties
  if (!view.select) return complete
  const always = ['@odata.etag', 'id', 'attachments', 'singleValueExtendedProperties']
  const wanted = [...always, ...view.select.split(',').map((name) => name.trim())]
  if (wanted.includes('internetMessageHeaders')) complete.internetMessageHeaders = parseMime(boxes.rawOf(id)).headers
  return Object.fromEntries(Object.entries(complete).filter(([name]) => wanted.includes(name)))
}

/** The supported MAPI properties: the message size, the two threading headers, the class, and List-Unsubscribe. */
function extendedProperties(expand: string, raw: Buffer): { id: string; value: string }[] {
  if (!expand.includes('singleValueExtendedProperties')) return []
  const root = parseMime(raw)
  const values: Record<string, string | undefined> = {
    'Integer 0xe08': String(raw.length),
    'String 0x1042': findHeader(root, 'in-reply-to'),
    'String 0x1039': findHeader(root, 'references'),
    'String 0x1a': messageClass(root),
    'String 0x1045': findHeader(root, 'list-unsubscribe'),
  }
  return Object.entries(values).flatMap(([id, value]) =>
    value !== undefined && expand.toLowerCase().includes(id.toLowerCase()) ? [{ id, value }] : [],
  )
}

/** [MS-OXCMAIL] 2.2.3.7.1.1, for the actions of a failure and a delay. */
function messageClass(root: MimePart): string {
  const status = [...walk(root)].find(({ type }) => type === 'message/delivery-status')
  if (root.type !== 'multipart/report' || status === undefined) return 'IPM.Note'
  const fields = status.body.toString()
  if (/^action:\s*failed/im.test(fields)) return 'REPORT.IPM.Note.NDR'
  return /^action:\s*delayed/im.test(fields) ? 'REPORT.IPM.Note.Delayed.DR' : 'REPORT.IPM.Note.DR'
}

/** A folder as v1.0 returns it, without `wellKnownName`, which only the beta has. */
export function folderResource(boxes: Mailboxes, user: string, row: FolderRow): Resource {
  const inside = boxes.messages(user).filter((message) => message.parent_folder_id === row.microsoft_id)
  return {
    id: row.microsoft_id,
    displayName: row.display_name,
    parentFolderId: row.parent_folder_id ?? row.microsoft_id,
    childFolderCount: boxes.folders(user).filter((child) => child.parent_folder_id === row.microsoft_id).length,
    unreadItemCount: inside.filter((message) => !message.is_read).length,
    totalItemCount: inside.length,
    isHidden: row.is_hidden,
  }
}

/** One page of a list, by `$skip` as in Graph: messages that arrive between pages shift it. */
export function skippedPage(
  request: Routed,
  items: Resource[],
  fallback: number,
  continuation: '$skip' | '$skiptoken' = '$skip',
): Response {
  const query = request.url.searchParams
  const top = boundedInteger(query.get('$top'), fallback, 1000)
  const skip = boundedInteger(query.get(continuation), 0, Number.MAX_SAFE_INTEGER)
  const next = new URL(request.url)
  next.searchParams.set(continuation, String(skip + top))
  return Response.json({
    ...(query.get('$count') === 'true' && { '@odata.count': items.length }),
    value: items.slice(skip, skip + top),
    ...(skip + top < items.length ? { '@odata.nextLink': next.toString() } : {}),
  })
}

/** `Prefer: odata.maxpagesize` of a delta query. */
export function preferredPage({ headers }: Pick<Routed, 'headers'>): number {
  const asked = /odata\.maxpagesize\s*=\s*(\d+)/i.exec(headers.get('prefer') ?? '')?.[1]
  return Math.max(1, boundedInteger(asked, 10, 1000))
}

/** How many messages, events or contacts a request asks for; 0 for other requests. */
export function requestedPage(request: Pick<Routed, 'method' | 'url' | 'headers'>): number {
  const { pathname, searchParams } = request.url
  const isList = request.method === 'GET' && /\/(messages|events|calendarView|contacts)(\/delta)?$/.test(pathname)
  if (!isList) return 0
  return pathname.endsWith('/delta') ? preferredPage(request) : boundedInteger(searchParams.get('$top'), 10, 1000)
}

/** As Graph sends it: with its context, and reduced to what `$select` and `$expand` name. Delta rounds have kept the selection. */
export async function asSent(response: Response, { url }: Pick<Routed, 'url'>): Promise<Response> {
  if (!response.ok || !response.headers.get('content-type')?.includes('json')) return response
  const body = (await response.json()) as Resource
  const names = (text: string | null) => text?.match(/[\w./]+(?=\s*(?:,|\(|$))/g) ?? []
  const select = names(url.searchParams.get('$select'))
  const expand = names(url.searchParams.get('$expand')?.replace(/\((?:[^()]|\([^()]*\))*\)/g, '') ?? null)
  const wanted = new Set(['id', ...[...select, ...expand].map((name) => name.split('/').at(-1))])
  const cut = (resource: Resource): Resource =>
    Object.fromEntries(Object.entries(resource).filter(([name]) => name.includes('@') || wanted.has(name)))
  const isList = Array.isArray(body.value)
  const shown = isList ? { ...body, value: (body.value as Resource[]).map(cut) } : cut(body)
  const context = `${url.origin}/v1.0/$metadata#${url.pathname.replace('/v1.0/', '')}`
  return Response.json(
    { '@odata.context': context, ...(select.length > 0 ? shown : body) },
    { status: response.status },
  )
}

export function boundedInteger(value: string | null | undefined, fallback: number, max: number): number {
  const number = Number(value ?? fallback)
  return Number.isInteger(number) && number >= 0 ? Math.min(number, max) : fallback
}
