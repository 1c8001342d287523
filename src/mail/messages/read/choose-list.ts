import { AppError, invalid, notFound } from '../../../platform/errors/app-error.ts'
import { type Pagination, pageRequest } from '../../../platform/formats/pagination.ts'
import { listFound } from './found-list.ts'
import { completeTexts } from './list-json.ts'
import { listLive } from './live-list.ts'
import type { PageCache } from './page-cache.ts'
import { type FolderDeps, getFolder } from './requested-folder.ts'
import { hasWords } from './search-contract.ts'
import { type ListFilter, listStored, type MessageListQuery, readDefaultScope, type StoredList } from './stored-list.ts'

export interface MessageList {
  /** The items of a JSON array, with their commas. */
  messages: Buffer
  pagination: Pagination
}

interface ListDeps extends FolderDeps {
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
  const fingerprint = [accountId, { labelId: folder?.id, ...filter, ...words }]
  if (folder?.syncedAs === null) {
    const { items, pagination } = await listLive(deps, folder, query, fingerprint)
    const scope = { provider, labelId: folder.id, folder: folder.name }
    return { messages: await completeTexts(deps.db, accountId, scope, items), pagination }
  }
  if (hasWords(words)) return listFound(deps, { accountId, provider, folder, words, filter }, query, fingerprint)
  const scope =
    folder === undefined
      ? await readDefaultScope(deps.db.read, accountId)
      : { provider, labelId: folder.id, folder: folder.name }
  const list = scope && (await listPage(deps, { accountId, scope, filter }, query, fingerprint))
  if (list === undefined) throw notFound('account', idOrAlias)
  return list
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
