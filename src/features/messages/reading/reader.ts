import { LRUCache } from 'lru-cache'
import type { Handle } from '../../../infra/db/index.ts'
import { AppError, invalid, notFound } from '../../../lib/errors.ts'
import { type Page, type PageQuery, pageOf, pageRequest } from '../../../lib/page.ts'
import type { MessageBody, ProviderName } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import type { Message } from '../api.ts'
import { bodyStore } from '../bodies/store.ts'
import { messageView, parseFields } from '../message.ts'
import { live } from '../provider-failure.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { allMail } from '../storing/label-counters.ts'
import { type FolderDeps, findFolder } from './folder.ts'
import { contentsOf, foldersOf, type StoredMail } from './live-access.ts'
import { storeListed } from './live-list.ts'
import { type ListFilter, listMessageIds } from './stored-list.ts'

export interface MessageListQuery extends PageQuery, Omit<ListFilter, 'labelId'> {
  labelId?: string | undefined
  mailbox?: string | undefined
}

export type MessageDetail = Message & { body: { text: string | null; html: string | null } } & Pick<
    MessageBody,
    'headers'
  >

/** Bodies stay a few minutes, so that a page that shows a message and reloads it reads it once. */
const CACHE = { maxSize: 16 * 1024 * 1024, ttl: 5 * 60_000 }

/** What the API reads of messages: lists and fields from the store, contents live from the provider unless the store keeps them. */
export function messageReader(deps: FolderDeps) {
  const { db, accounts } = deps
  const bodies = new LRUCache<string, MessageBody>({
    ...CACHE,
    maxEntrySize: CACHE.maxSize / 4,
    sizeCalculation: (body) => 1000 + (body.text?.length ?? 0) + (body.html?.length ?? 0) + body.headers.length * 100,
  })

  async function get(idOrAlias: string, messageId: string): Promise<{ row: MessageRow; message: Message }> {
    const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
    const row = await messageStore(db.read).find(accountId, messageId)
    const [message] = row === undefined ? [] : await messageViews(db.read, provider, [row])
    if (row === undefined || message === undefined) throw notFound('message', messageId)
    return { row, message }
  }

  return {
    async list(idOrAlias: string, query: MessageListQuery): Promise<Page<Message>> {
      const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
      if (query.mailbox !== undefined && provider !== 'imap') {
        throw invalid('query.mailbox', 'is for imap accounts; use labelId')
      }
      const ofAll = provider !== 'imap' && query.labelId === undefined
      const folder = ofAll ? undefined : await findFolder(deps, accountId, query)
      const { after, before, unread, hasAttachments } = query
      const filter = { labelId: ofAll ? allMail(accountId) : (folder?.id ?? ''), after, before, unread, hasAttachments }
      const fingerprint = [accountId, filter]
      if (folder?.syncedAs === null) return listLive(provider, folder, query, fingerprint)
      const request = pageRequest(query, fingerprint, ['integer', 'text'])
      if (folder === undefined && !ofAll) return pageOf([], request, 0, fingerprint, () => [])
      const page = await listMessageIds(db.read, accountId, filter, request, fingerprint)
      const rows = await messageStore(db.read).byIds(page.items)
      return { items: await messageViews(db.read, provider, rows), pagination: page.pagination }
    },

    /** Throws 404 for an unknown message, and for one that is gone at the provider. */
    async detail(idOrAlias: string, messageId: string): Promise<MessageDetail> {
      const { row, message } = await get(idOrAlias, messageId)
      const body = (await bodyStore(db.read).find(row.id)) ?? (await liveBody(row))
      return { ...message, body: { text: body.text, html: body.html }, headers: body.headers }
    },

    /** The message as its `message.received` says it, for test deliveries. */
    async asReceived(idOrAlias: string, messageId: string) {
      const { row, message } = await get(idOrAlias, messageId)
      const { accountId, id: objectId, version } = row
      return { accountId, provider: message.provider, objectId, version, data: { ...message } }
    },

    async openRaw(idOrAlias: string, messageId: string) {
      const { row } = await get(idOrAlias, messageId)
      const [contents, mail] = await Promise.all([contentsOf(deps, row.accountId), storedMail(row)])
      return live('The message', () => contents.openRaw(mail))
    },

    async openAttachment(idOrAlias: string, messageId: string, attachmentId: string) {
      const { row } = await get(idOrAlias, messageId)
      const known = parseFields(row.fields).attachments.find((attachment) => attachment.id === attachmentId)
      if (known === undefined) throw notFound('attachment', attachmentId)
      const [contents, mail] = await Promise.all([contentsOf(deps, row.accountId), storedMail(row)])
      return live('The attachment', () => contents.openAttachment(mail, attachmentId))
    },
  }

  async function liveBody(row: MessageRow): Promise<MessageBody> {
    // Its place, or for a draft that is changed in place its version.
    const key = `${row.id} ${row.uidValidity} ${row.uid ?? row.version}`
    const known = bodies.get(key)
    if (known !== undefined) return known
    const [contents, mail] = await Promise.all([contentsOf(deps, row.accountId), storedMail(row)])
    const body = await live('The message', () => contents.getBody(mail))
    bodies.set(key, body)
    return body
  }

  async function storedMail({ folderId, providerMessageId, uidValidity, uid }: MessageRow): Promise<StoredMail> {
    const folder = folderId === null ? undefined : (await labelStore(db.read).byIds([folderId])).get(folderId)
    return { providerMessageId, uidValidity, uid, folderPath: folder?.providerId ?? null }
  }

  /** A folder that is not kept in step, in the order of its numbering; what is shown is stored. */
  async function listLive(
    provider: ProviderName,
    folder: LabelRow,
    query: MessageListQuery,
    fingerprint: unknown,
  ): Promise<Page<Message>> {
    const filters = (['after', 'before', 'unread', 'hasAttachments'] as const).filter(
      (name) => query[name] !== undefined,
    )
    if (filters.length > 0) {
      throw new AppError('validation_failed', {
        message: `The folder "${folder.providerId}" is read live and cannot be filtered; add it to sync.folders.`,
        details: filters.map((name) => ({ path: `query.${name}`, message: 'works in folders that are kept in step' })),
      })
    }
    const request = pageRequest(query, fingerprint, ['integer'])
    const [beforeUid] = request.after ?? []
    const liveReads = await foldersOf(deps, folder.accountId)
    const { messages, total } = await live('The folder', () =>
      liveReads.listMessages(folder.providerId, {
        limit: request.limit + 1,
        ...(beforeUid === undefined ? { offset: request.offset } : { beforeUid }),
      }),
    )
    const rows = await db.transaction(async (tx) => {
      await accounts.hold(tx, folder.accountId)
      return storeListed(
        tx,
        { ...deps, dialect: db.dialect },
        { accountId: folder.accountId, labelId: folder.id },
        messages,
      )
    })
    const page = pageOf(rows, request, total, fingerprint, (row) => [row.uid ?? 0])
    const items = page.items.toSorted((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1))
    return { items: await messageViews(db.read, provider, items), pagination: page.pagination }
  }
}

export type MessageReader = ReturnType<typeof messageReader>

/** Rows as the API and events show them. */
async function messageViews(handle: Handle, provider: ProviderName, rows: readonly MessageRow[]): Promise<Message[]> {
  const labels = await messageStore(handle).labelIds(rows.map((row) => row.id))
  const folders = await labelStore(handle).byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
  return rows.map((row) =>
    messageView(row, {
      provider,
      labelIds: labels.get(row.id) ?? (row.folderId === null ? [] : [row.folderId]),
      folder: folders.get(row.folderId ?? '')?.name ?? null,
    }),
  )
}
