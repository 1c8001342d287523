import type { Db } from '../../../infra/db/index.ts'
import { AppError, invalid, notFound } from '../../../lib/errors.ts'
import { type Pagination, pageOf, pageRequest } from '../../../lib/page.ts'
import { labelStore } from '../../labels/index.ts'
import { contextText } from '../api.ts'
import { type FolderDeps, getFolder } from './folder.ts'
import { readTexts } from './found-texts.ts'
import { listLive } from './live-list.ts'
import type { PageCache } from './page-cache.ts'
import { hasWords, type SearchWords } from './search.ts'
import {
  type ListFilter,
  type ListRequest,
  type ListScope,
  listStored,
  type MessageListQuery,
  readDefaultScope,
  type StoredList,
  type StoredText,
} from './stored-list.ts'

export interface MessageList {
  /** The items of a JSON array, with their commas. */
  messages: Buffer
  pagination: Pagination
}

export interface ListDeps extends FolderDeps {
  pages: PageCache
}

/** Lists messages as JSON, in the order of `listStored` or `listLive`. Throws as `messageReader` says. */
export async function listMessages(deps: ListDeps, idOrAlias: string, query: MessageListQuery): Promise<MessageList> {
  const { after, before, unread, hasAttachments, q, from, to, subject } = query
  const filter = { after, before, unread, hasAttachments }
  const words = { q, from, to, subject }
  const requested = query.mailbox ?? query.labelId
  if (requested === undefined && !hasWords(words)) return listDefault(deps, idOrAlias, query, filter)
  const { id: accountId, provider } = await deps.accounts.resolve(deps.db.read, idOrAlias)
  if (query.mailbox !== undefined && provider !== 'imap') {
    throw invalid('query.mailbox', 'is for imap accounts; use labelId')
  }
  const folder = requested === undefined ? undefined : await getFolder(deps, accountId, requested, query)
  const scope =
    folder === undefined
      ? await readDefaultScope(deps.db.read, accountId)
      : { provider, labelId: folder.id, folder: folder.name }
  if (scope === undefined) throw notFound('account', idOrAlias)
  const fingerprint = [accountId, { labelId: folder?.id, ...filter, ...words }]
  if (folder?.syncedAs === null) {
    const { items, pagination } = await listLive(deps, folder, query, fingerprint)
    return { messages: await completeTexts(deps.db, accountId, scope, items), pagination }
  }
  if (!hasWords(words)) {
    const list = await listPage(deps, { accountId, scope, filter }, query, fingerprint)
    if (list === undefined) throw notFound('account', idOrAlias)
    return list
  }
  const request = pageRequest(query, fingerprint, ['integer', 'text'])
  const { items, pagination } = await searchStored(deps, { accountId, scope, filter, words }, request, fingerprint)
  return { messages: await completeTexts(deps.db, accountId, scope, items), pagination }
}

/** A page of stored messages, from memory where it is still current. Undefined when there is no such account. */
async function listPage(
  deps: ListDeps,
  list: StoredList,
  query: MessageListQuery,
  fingerprint: unknown,
): Promise<MessageList | undefined> {
  const { page, limit, maxResults, cursor, pageToken } = query
  return deps.pages.page(list.accountId, [fingerprint, page, limit, maxResults, cursor, pageToken], async () => {
    const request = pageRequest(query, fingerprint, ['integer', 'text'])
    const { items, pagination, isComplete, scope } = await listStored(deps.db, list, request, fingerprint)
    if (scope === undefined) return undefined
    return { isComplete, list: { messages: await completeTexts(deps.db, list.accountId, scope, items), pagination } }
  })
}

interface Searched {
  accountId: string
  scope: ListScope
  filter: ListFilter
  words: SearchWords
}

async function searchStored(
  { db, search }: FolderDeps,
  { accountId, filter, scope, words }: Searched,
  request: ListRequest,
  fingerprint: unknown,
): Promise<{ items: StoredText[]; pagination: Pagination }> {
  const { after, offset, limit } = request
  const { hits, total, partial } =
    scope.labelId === null
      ? NOTHING
      : await search.find({ accountId, labelId: scope.labelId, words, filter, after, offset, limit })
  const { items, pagination } = pageOf(hits, request, total, fingerprint, (hit) => [hit.receivedAt, hit.messageId])
  const texts = await readTexts(
    db,
    items.map((hit) => hit.messageId),
  )
  return { items: texts, pagination: { ...pagination, ...(partial && { partial }) } }
}

/** Of an account whose main folder is not synced yet. */
const NOTHING = { hits: [], total: 0, partial: false }

/** Takes the text for an id first, because the statement of the page then also finds the account. */
async function listDefault(
  deps: ListDeps,
  idOrAlias: string,
  query: MessageListQuery,
  filter: ListFilter,
): Promise<MessageList> {
  const read = (accountId: string) => listPage(deps, { accountId, filter }, query, [accountId, filter])
  const found = await read(idOrAlias).catch((error: unknown) => {
    // The cursor of a list that was requested by alias is for the account's id.
    if (error instanceof AppError && error.code === 'invalid_cursor') return undefined
    throw error
  })
  if (found !== undefined) return found
  const { id } = await deps.accounts.resolve(deps.db.read, idOrAlias)
  return (await read(id)) ?? listDefault(deps, idOrAlias, query, filter)
}

/** Adds to each stored text what it lacks, and the commas between them. */
export async function completeTexts(
  db: Pick<Db, 'read'>,
  accountId: string,
  { provider, labelId, folder }: ListScope,
  items: readonly StoredText[],
): Promise<Buffer> {
  const others = new Set<string>()
  for (const { folderId } of items) if (folderId !== null && folderId !== labelId) others.add(folderId)
  const folders = await labelStore(db.read).byIds([...others])
  const nameOf = (id: string | null) => (id === labelId ? folder : (folders.get(id ?? '')?.name ?? null))
  const ends = new Map<string | null, Buffer>()
  for (const folderId of [labelId, null, ...others]) {
    const context = contextText({ accountId, provider, folder: nameOf(folderId) })
    ends.set(folderId, Buffer.from(`,${context.slice(1)},`))
  }
  return joined(items, ends)
}

/** One copy of each part, because a page has a hundred of them. */
function joined(items: readonly StoredText[], ends: ReadonlyMap<string | null, Buffer>): Buffer {
  let size = 0
  for (const { folderId, start, end } of items) size += end - start - 1 + (ends.get(folderId)?.length ?? 0)
  const target = Buffer.allocUnsafe(size)
  let at = 0
  for (const { folderId, source, start, end } of items) {
    at += source.copy(target, at, start, end - 1)
    at += ends.get(folderId)?.copy(target, at) ?? 0
  }
  return target.subarray(0, Math.max(0, size - 1))
}
