import { headerOf, parseMime } from '../stand-in/mime.ts'
import type { Routed } from '../stand-in/router.ts'
import type { Mailboxes } from './mailbox.ts'
import type { FolderRow, Package } from './package.ts'

export type Resource = Record<string, unknown>

export const prefersImmutable = (request: Pick<Routed, 'headers'>): boolean =>
  /IdType\s*=\s*"ImmutableId"/i.test(request.headers.get('prefer') ?? '')

/** Every id of a mail that leaves is of the kind that was asked for. */
export async function messageResource(
  inner: Package,
  boxes: Mailboxes,
  user: string,
  id: string,
  options: { immutable: boolean; select?: string | null; expand?: string | null },
): Promise<Resource> {
  const shown = (await (await inner.ask(`/v1.0/me/messages/${id}`, { user })).json()) as Resource
  return finished(shown, boxes, options)
}

/** Adds to the package's form of a message what it lacks, and cuts it to what was asked for. */
export function finished(
  shown: Resource,
  boxes: Mailboxes,
  options: { immutable: boolean; select?: string | null; expand?: string | null },
): Resource {
  const id = String(shown.id)
  const { attachments, ...rest } = shown
  const whole: Resource = {
    '@odata.etag': `W/"${Buffer.from(`${id}${shown.lastModifiedDateTime}`).toString('base64url').slice(-24)}"`,
    ...rest,
    id: options.immutable ? id : boxes.movingId(id),
    flag: { flagStatus: boxes.isFlagged(id) ? 'flagged' : 'notFlagged' },
    inferenceClassification: 'focused',
    ...(options.expand?.startsWith('attachments') ? { attachments } : {}),
  }
  if (!options.select) return whole
  const wanted = ['@odata.etag', 'id', 'attachments', ...options.select.split(',').map((name) => name.trim())]
  if (wanted.includes('internetMessageHeaders'))
    whole.internetMessageHeaders = parseMime(boxes.rawOf(id)).headers.map(({ name, value }) => ({ name, value }))
  return Object.fromEntries(Object.entries(whole).filter(([name]) => wanted.includes(name)))
}

export const messageIdHeader = (raw: Buffer): string | undefined => headerOf(parseMime(raw), 'message-id')

/** As v1.0 shows a folder: no wellKnownName, which only the beta has. */
export function folderResource(boxes: Mailboxes, user: string, row: FolderRow): Resource {
  const inside = boxes.messages(user).filter((message) => message.parent_folder_id === row.microsoft_id)
  return {
    id: row.microsoft_id,
    displayName: row.display_name,
    parentFolderId: row.parent_folder_id ?? row.microsoft_id,
    childFolderCount: boxes.folders(user).filter((child) => child.parent_folder_id === row.microsoft_id).length,
    unreadItemCount: inside.filter((message) => !message.is_read).length,
    totalItemCount: inside.length,
    sizeInBytes: 0,
    isHidden: row.is_hidden,
  }
}

/** One page of a list that is counted through with `$skip`, as Graph does: what arrives meanwhile shifts it. */
export function skippedPage(request: Routed, items: Resource[], fallback: number): Response {
  const query = request.url.searchParams
  const top = number(query.get('$top'), fallback, 1000)
  const skip = number(query.get('$skip'), 0, Number.MAX_SAFE_INTEGER)
  const next = new URL(request.url)
  next.searchParams.set('$skip', String(skip + top))
  return Response.json({
    value: items.slice(skip, skip + top),
    ...(skip + top < items.length ? { '@odata.nextLink': next.toString() } : {}),
  })
}

export function number(value: string | null | undefined, fallback: number, most: number): number {
  const given = Number(value ?? fallback)
  return Number.isInteger(given) && given >= 0 ? Math.min(given, most) : fallback
}
