import { LRUCache } from 'lru-cache'
import { readLive } from '../../../accounts/index.ts'
import type { Recorder } from '../../../events/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import { AppError, notFound } from '../../../platform/errors/app-error.ts'
import { type MessageBody, ProviderError, type ProviderName } from '../../../providers/contract/index.ts'
import { labelStore } from '../../labels/index.ts'
import { type Message, type MessageDetail, messageView, shownLabelIds } from '../api.ts'
import type { BodyFetcher } from '../bodies/fetcher.ts'
import { bodyStore } from '../bodies/store.ts'
import { isRepairable, repairMessage } from '../rows/repair.ts'
import { parseFields, toIdentity } from '../rows/row.ts'
import { sanitizeHtml } from '../sanitizing/sanitize.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { listMessages, type MessageList } from './choose-list.ts'
import { type Content, contentOpener } from './content.ts'
import { liveContents, liveFolders, type MessageRef } from './live-access.ts'
import { pageCache } from './page-cache.ts'
import type { FolderDeps } from './requested-folder.ts'
import type { MessageListQuery } from './stored-list.ts'

/** A client that shows a message often requests it twice within minutes. */
const BODY_CACHE = { maxSize: 16 * 1024 * 1024, ttl: 5 * 60_000 }

interface ReaderDeps extends FolderDeps {
  events: Recorder
  /** Requests the bodies of messages that are read again. Set where bodies are stored. */
  requestBodies?: BodyFetcher['request']
}

/**
 * Reads messages for the API: lists and fields from the database, contents live from the provider unless the body is
 * stored. Methods take an account id or `customUserId` and throw `not_found` for an unknown account or message, and
 * when the provider no longer has the message.
 */
export function messageReader(deps: ReaderDeps) {
  const { db, accounts } = deps
  const bodyCache = new LRUCache<string, MessageBody>({
    ...BODY_CACHE,
    maxEntrySize: BODY_CACHE.maxSize / 4,
    sizeCalculation: (body) => 1000 + (body.text?.length ?? 0) + (body.html?.length ?? 0) + body.headers.length * 100,
  })
  const content = contentOpener()

  const pages = pageCache(db)

  return {
    list(idOrAlias: string, query: MessageListQuery): Promise<MessageList> {
      return listMessages({ ...deps, pages }, idOrAlias, query)
    },

    async message(idOrAlias: string, messageId: string): Promise<Message> {
      return (await get(idOrAlias, messageId)).message
    },

    /** `sanitize` makes the HTML safe to show, or null when it is too long for that. */
    async detail(idOrAlias: string, messageId: string, { sanitize = false } = {}): Promise<MessageDetail> {
      const { row, message } = await getRepaired(idOrAlias, messageId)
      const { text, html, headers } = (await bodyStore(db.read).find(row.id)) ?? (await liveBody(row))
      if (!sanitize) return { ...message, body: { text, html }, headers }
      const safe = html === null ? null : await sanitizeHtml(html)
      return { ...message, body: { text, html: safe ?? null, sanitized: safe !== undefined }, headers }
    },

    /** The content of a `message.received` event for this message, for test deliveries. */
    async asReceived(idOrAlias: string, messageId: string) {
      const { row, message } = await get(idOrAlias, messageId)
      const { accountId, id: objectId, version } = row
      return { accountId, provider: message.provider, objectId, version, data: { ...message } }
    },

    async openRaw(idOrAlias: string, messageId: string): Promise<Content> {
      const { row } = await get(idOrAlias, messageId)
      const { contents, ref } = await openContents(row)
      const raw = await readLive('The message', () => contents.openRaw(ref))
      return content('The message', contentKey(row), {
        sizeBytes: raw.sizeBytes,
        read: raw.read,
        contentType: 'message/rfc822',
        filename: `${messageId}.eml`,
      })
    },

    async openAttachment(idOrAlias: string, messageId: string, attachmentId: string): Promise<Content> {
      const { row } = await get(idOrAlias, messageId)
      const isKnown = parseFields(row.fields).attachments.some((attachment) => attachment.id === attachmentId)
      if (!isKnown) throw notFound('attachment', attachmentId)
      const { contents, ref } = await openContents(row)
      const file = await readLive('The attachment', () => contents.openAttachment(ref, attachmentId))
      return content('The attachment', `${contentKey(row)} ${attachmentId}`, file)
    },
  }

  async function get(idOrAlias: string, messageId: string): Promise<{ row: MessageRow; message: Message }> {
    const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
    const row = await messageStore(db.read).find(accountId, messageId)
    const [message] = row === undefined ? [] : await messageViews(provider, [row])
    if (row === undefined || message === undefined) throw notFound('message', messageId)
    return { row, message }
  }

  /** Tries once more to read a message that could not be read. */
  async function getRepaired(idOrAlias: string, messageId: string): Promise<{ row: MessageRow; message: Message }> {
    const found = await get(idOrAlias, messageId)
    const { row, message } = found
    if (!isRepairable(row)) return found
    const { accountId } = row
    try {
      const label = (await labelStore(db.read).byIds([row.folderId ?? ''])).get(row.folderId ?? '')
      if (label === undefined) return found
      const live = await liveFolders(deps, accountId)
      const begin = (tx: Tx) => accounts.hold(tx, accountId)
      await repairMessage(deps, { provider: message.provider, label, live, begin }, row)
    } catch (error) {
      // Reading the body reports what is wrong, unless the body is stored.
      if (error instanceof ProviderError || error instanceof AppError) return found
      throw error
    }
    return get(idOrAlias, messageId)
  }

  async function messageViews(provider: ProviderName, rows: readonly MessageRow[]): Promise<Message[]> {
    const labels = await messageStore(db.read).labelIds(rows.map((row) => row.id))
    const folders = await labelStore(db.read).byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
    return rows.map((row) =>
      messageView(row, {
        provider,
        labelIds: shownLabelIds(row, labels.get(row.id) ?? []),
        folder: folders.get(row.folderId ?? '')?.name ?? null,
      }),
    )
  }

  async function liveBody(row: MessageRow): Promise<MessageBody> {
    const key = contentKey(row)
    const cached = bodyCache.get(key)
    if (cached !== undefined) return cached
    const { contents, ref } = await openContents(row)
    const body = await readLive('The message', () => contents.getBody(ref))
    bodyCache.set(key, body)
    return body
  }

  async function openContents(row: MessageRow) {
    const { accountId, folderId, providerMessageId, uidValidity, uid } = row
    const [contents, folder] = await Promise.all([
      liveContents(deps, accountId),
      folderId === null ? undefined : labelStore(db.read).byIds([folderId]),
    ])
    const folderPath = folder?.get(folderId ?? '')?.providerId ?? null
    const ref: MessageRef = { providerMessageId, uidValidity, uid, folderPath, identity: toIdentity(row) }
    return { contents, ref }
  }
}

/** Changes whenever the content may have changed. A provider with message ids changes a draft in place, so its key needs the version. */
function contentKey({ id, uidValidity, uid, version }: MessageRow): string {
  return `${id} ${uidValidity} ${uid ?? version}`
}

export type MessageReader = ReturnType<typeof messageReader>
