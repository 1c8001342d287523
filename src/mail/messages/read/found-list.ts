import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { buildPage, continuedAt, type Pagination, pageRequest } from '../../../platform/formats/pagination.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { storedText } from '../api.ts'
import { allMail, messageStore } from '../store.ts'
import type { MessageList } from './choose-list.ts'
import { completeTexts, readTexts } from './list-json.ts'
import { findOlderMail, type OlderMail, type OlderPosition, type SearchScope, searchOlder } from './older-mail.ts'
import type { FolderDeps } from './requested-folder.ts'
import type { MessageHit, SearchWords } from './search-contract.ts'
import { type ListFilter, type ListRequest, type MessageListQuery, toStoredText } from './stored-list.ts'

interface FoundList {
  accountId: string
  provider: ProviderName
  /** A synced folder or label. Undefined: everything outside trash and junk. */
  folder: LabelRow | undefined
  words: SearchWords
  filter: ListFilter
}

/**
 * Lists the messages that a search finds, newest first: the stored ones from the index, then older ones from the provider. A page comes
 * from one of them, so stored messages never wait for the provider:
 *
 *   stored pages ──► the last of them leads to ──► pages of the provider, each with one search there
 *   no stored message matches ──────────────────► the first page is the provider's
 */
export async function listFound(
  deps: FolderDeps,
  list: FoundList,
  query: MessageListQuery,
  fingerprint: readonly unknown[],
): Promise<MessageList> {
  const { db } = deps
  const { accountId, provider, folder } = list
  const folders = folder === undefined ? await searchedFolders(db, list) : [folder]
  const scope = { ...list, folders }
  const shown = { provider, labelId: folder?.id ?? null, folder: folder?.name ?? null }
  // A cursor of the provider's pages belongs to another list.
  const olderFingerprint = [...fingerprint, 'provider']
  const position = olderPosition(query, provider, olderFingerprint)
  if (position !== undefined) return olderPage(position)

  const request = pageRequest(query, fingerprint, ['integer', 'text'])
  const { items, pagination, older } = await findStored(deps, scope, request, fingerprint)
  const storedPage = async (page: Pagination): Promise<MessageList> => {
    const texts = await readTexts(
      db,
      items.map((hit) => hit.messageId),
    )
    return { messages: await completeTexts(db, accountId, shown, texts), pagination: page }
  }
  if (older === undefined || pagination.hasNext) return storedPage(pagination)
  const { page, limit } = request
  const { total, totalCapped: capped = false } = pagination
  const first = { since: older.since, folderId: older.folders[0]?.id ?? '', token: '', total, capped, page, limit }
  const continued = continuedAt(pagination, toCursor(first), olderFingerprint)
  const isFirst = request.after === undefined && request.offset === 0
  if (items.length > 0 || !isFirst) return storedPage(continued)
  return olderPage(first).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error
    deps.log.warn('Cannot search at the provider. The response has no older messages.', {
      accountId,
      provider,
      operation: 'messages.search',
      error,
    })
    return storedPage({ ...continued, partial: true })
  })

  async function olderPage(at: OlderPage): Promise<MessageList> {
    const { rows, next } = await searchOlder(deps, scope, at, at.limit)
    const labels = await messageStore(db.read).labelIds(rows.map((row) => row.id))
    const texts = rows.map((row) => toStoredText(row.folderId, storedText(row, labels.get(row.id) ?? [])))
    const total = { count: at.total, capped: at.capped }
    const { pagination } = buildPage(rows.slice(0, at.limit), at, total, olderFingerprint, () => [])
    const found: Pagination = { ...pagination, source: 'provider' }
    return {
      messages: await completeTexts(db, accountId, shown, texts),
      pagination: next === undefined ? found : continuedAt(found, toCursor({ ...at, ...next }), olderFingerprint),
    }
  }
}

/** A page of the provider. `total` counts the stored messages. */
interface OlderPage extends OlderPosition {
  total: number
  capped: boolean
  page: number
  limit: number
}

/** The position in a cursor of the provider's pages; undefined for any other cursor. */
function olderPosition(query: MessageListQuery, provider: ProviderName, fingerprint: unknown): OlderPage | undefined {
  try {
    const { after, page, limit } = pageRequest(query, fingerprint, CURSOR)
    if (after === undefined) return undefined
    const [since, total, capped, folderId, token] = after
    return { since: provider === 'imap' ? null : since, total, capped: capped === 1, folderId, token, page, limit }
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_cursor') return undefined
    throw error
  }
}

const CURSOR = ['integer', 'integer', 'integer', 'text', 'text'] as const

function toCursor({ since, total, capped, folderId, token }: OlderPage): (string | number)[] {
  return [since ?? 0, total, capped ? 1 : 0, folderId, token]
}

/** For imap: the synced folders outside trash and junk, the main folder first. */
async function searchedFolders(
  db: Pick<Db, 'read'>,
  { accountId, provider }: Pick<FoundList, 'accountId' | 'provider'>,
): Promise<LabelRow[]> {
  if (provider !== 'imap') return []
  const isMain = ({ syncedAs }: LabelRow) => syncedAs?.startsWith('main:') === true
  const labels = await labelStore(db.read).all(accountId)
  return labels
    .filter(({ syncedAs, role }) => syncedAs !== null && role !== 'trash' && role !== 'junk')
    .sort((a, b) => Number(isMain(b)) - Number(isMain(a)))
}

/** A page of the index, and what lies beyond it: the index is searched only as far back as everything is stored. */
async function findStored(
  { db, search }: FolderDeps,
  scope: SearchScope,
  request: ListRequest,
  fingerprint: unknown,
): Promise<{ items: MessageHit[]; pagination: Pagination; older: OlderMail | undefined }> {
  const { accountId, provider, folder, folders, words, filter } = scope
  const older = search.providerWords(words) === undefined ? undefined : await findOlderMail(db, scope)
  const labelIds = folder === undefined && provider !== 'imap' ? [allMail(accountId)] : folders.map(({ id }) => id)
  const since = Math.max(filter.after ?? 0, older?.since ?? 0)
  const stored = { ...filter, after: since === 0 ? undefined : since }
  const { after, offset, limit } = request
  const { hits, total, partial } = await search.find({
    accountId,
    labelIds,
    words,
    filter: stored,
    after,
    offset,
    limit,
  })
  const { items, pagination } = buildPage(hits, request, total, fingerprint, (hit) => [hit.receivedAt, hit.messageId])
  return { items, pagination: { ...pagination, ...(partial && { partial }) }, older }
}
