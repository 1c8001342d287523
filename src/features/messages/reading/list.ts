import type { Db } from '../../../infra/db/index.ts'
import { AppError, invalid, notFound } from '../../../lib/errors.ts'
import { type Pagination, pageOf, pageRequest } from '../../../lib/page.ts'
import { labelStore } from '../../labels/index.ts'
import { contextText } from '../api.ts'
import { type FolderDeps, getFolder } from './folder.ts'
import { readTexts } from './found-texts.ts'
import { listLive } from './live-list.ts'
import { hasWords, type SearchWords } from './search.ts'
import {
  type ListFilter,
  type ListRequest,
  type ListScope,
  listStored,
  type MessageListQuery,
  readDefaultScope,
  type StoredText,
} from './stored-list.ts'

export interface MessageList {
  /** The items of a JSON array, with their commas. */
  messages: Buffer
  pagination: Pagination
}

/** Lists messages as JSON, in the order of `listStored` or `listLive`. Throws as `messageReader` says. */
export async function listMessages(deps: FolderDeps, idOrAlias: string, query: MessageListQuery): Promise<MessageList> {
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
  const list = { accountId, scope, filter, words }
  const { items, pagination } =
    folder?.syncedAs === null
      ? await listLive(deps, folder, query, fingerprint)
      : await listSynced(deps, list, pageRequest(query, fingerprint, ['integer', 'text']), fingerprint)
  return { messages: await completeTexts(deps.db, accountId, scope, items), pagination }
}

interface SyncedList {
  accountId: string
  scope: ListScope
  filter: ListFilter
  words: SearchWords
}

async function listSynced(
  { db, search }: FolderDeps,
  { words, ...list }: SyncedList,
  request: ListRequest,
  fingerprint: unknown,
): Promise<{ items: StoredText[]; pagination: Pagination }> {
  if (!hasWords(words)) return listStored(db, list, request, fingerprint)
  const { accountId, filter, scope } = list
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
  deps: FolderDeps,
  idOrAlias: string,
  query: MessageListQuery,
  filter: ListFilter,
): Promise<MessageList> {
  const read = async (accountId: string) => {
    const fingerprint = [accountId, filter]
    const request = pageRequest(query, fingerprint, ['integer', 'text'])
    const page = await listStored(deps.db, { accountId, filter }, request, fingerprint)
    if (page.scope === undefined) return undefined
    return { messages: await completeTexts(deps.db, accountId, page.scope, page.items), pagination: page.pagination }
  }
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
