import { openMailbox, readLive } from '../../../accounts/index.ts'
import { withTimeout } from '../../../platform/concurrency/abort.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import {
  type FolderLiveReads,
  type IdLiveReads,
  type MailSearch,
  ProviderError,
  type ProviderName,
} from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { storeFound } from '../ingest/found.ts'
import { mailHorizons } from '../rows/horizons.ts'
import { locatedMessages } from '../rows/located-messages.ts'
import { isFound } from '../rows/row.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { storeListed } from './live-list.ts'
import type { FolderDeps } from './requested-folder.ts'
import type { SearchWords } from './search-contract.ts'
import type { ListFilter } from './stored-list.ts'

export interface SearchScope {
  accountId: string
  provider: ProviderName
  /** A synced folder or label. Undefined: everything outside trash and junk. */
  folder: LabelRow | undefined
  /** For imap: the folders to search, the account's main folder first. */
  folders: readonly LabelRow[]
  words: SearchWords
  filter: ListFilter
}

/** Bounds of the messages that only the provider may have. */
export interface OlderMail {
  /** Messages received since then are stored; null for imap, where UIDs separate them. */
  since: number | null
  /** For imap: the folders with older messages. */
  folders: readonly LabelRow[]
}

/** Where a search at the provider continues. */
export interface OlderPosition {
  /** As in `OlderMail`. */
  since: number | null
  /** For imap: the folder to search next. */
  folderId: string
  /** The UID, or the provider's own text, of the next page; empty: the first page. */
  token: string
}

/** Undefined when everything that the search covers is stored. */
export async function findOlderMail(db: Pick<Db, 'read'>, scope: SearchScope): Promise<OlderMail | undefined> {
  const { accountId, provider, folder, folders, filter } = scope
  const horizons = await mailHorizons(db.read).all(accountId)
  if (provider === 'imap') {
    const incomplete = folders.filter(({ id }) => (filter.after ?? 0) < (horizons.get(id) ?? Number.MAX_SAFE_INTEGER))
    return incomplete.length === 0 ? undefined : { since: null, folders: incomplete }
  }
  const own = horizons.get(folder?.id ?? '')
  const relevant = own === undefined ? [...horizons.values()] : [own]
  // During the first sync and before it, the oldest message that is stored so far.
  const since = relevant.length > 0 ? Math.max(...relevant) : await messageStore(db.read).oldestReceivedAt(accountId)
  const bound = since ?? Number.MAX_SAFE_INTEGER
  return (filter.after ?? 0) >= bound ? undefined : { since: bound, folders: [] }
}

/** For all requests of one page, so that a slow provider does not keep a client waiting. */
const TIMEOUT_MS = 10_000
/** No further folder is searched after this time. */
const ENOUGH_MS = 4000
const MAX_MESSAGES = 50

/**
 * One page of what the provider finds beyond the stored messages. Stores these messages without labels, counters or events, so that their
 * ids work in every request. Throws as `readLive`, and `provider_timeout` after ten seconds.
 */
export async function searchOlder(
  deps: FolderDeps,
  scope: SearchScope,
  position: OlderPosition,
  limit: number,
): Promise<{ rows: MessageRow[]; next: OlderPosition | undefined }> {
  const words = deps.search.providerWords(scope.words)
  if (words === undefined) return { rows: [], next: undefined }
  const search = definedOnly({ ...words, ...scope.filter })
  // Later than the response, so that the abort is never its error.
  const signal = AbortSignal.timeout(TIMEOUT_MS + 1000)
  const size = Math.min(limit, MAX_MESSAGES)
  const work = readLive('The folder', async () => {
    const { mail, access } = await openMailbox(deps, scope.accountId, 'mail.read')
    return mail.kind === 'folders'
      ? searchFolders(deps, scope, mail.liveReads(access), { position, search, size })
      : searchMailbox(deps, scope, mail.liveReads(access), { position, search, size, signal })
  })
  const found = await withTimeout(work, TIMEOUT_MS, timedOut)
  return { ...found, rows: found.rows.filter((row) => isWanted(deps, scope, position, row)) }
}

interface OlderRequest {
  position: OlderPosition
  search: MailSearch
  size: number
}

async function searchMailbox(
  deps: FolderDeps,
  scope: SearchScope,
  live: IdLiveReads,
  { position, search, size, signal }: OlderRequest & { signal: AbortSignal },
) {
  const { since, token } = position
  const isBounded = since !== null && since < (search.before ?? Number.MAX_SAFE_INTEGER)
  const { found, next } = await live.search({
    // Some messages of that very time may not be stored.
    search: { ...search, ...(isBounded && { before: since + 1 }) },
    ...(scope.folder !== undefined && { folder: scope.folder.providerId }),
    limit: size,
    ...(token !== '' && { page: token }),
    signal,
  })
  const rows = await deps.db.transaction(async (tx) => {
    await deps.accounts.hold(tx, scope.accountId)
    return storeFound(tx, { ...deps, dialect: deps.db.dialect }, scope, found)
  })
  // Graph returns them by the time they were sent.
  const newestFirst = rows.sort((a, b) => b.receivedAt - a.receivedAt)
  return { rows: newestFirst, next: next === null ? undefined : { ...position, token: next } }
}

/** One folder after the other, until the page is full. */
async function searchFolders(
  deps: FolderDeps,
  { accountId, folders }: SearchScope,
  live: FolderLiveReads,
  { position, search, size }: OlderRequest,
) {
  const endMs = deps.clock.monotonic() + ENOUGH_MS
  const rows: MessageRow[] = []
  const at = (folder: LabelRow, token = ''): OlderPosition => ({ since: null, folderId: folder.id, token })
  const start = folders.findIndex(({ id }) => id === position.folderId)
  const horizons = await mailHorizons(deps.db.read).all(accountId)
  // Without the folder of the position, which is no longer synced, nobody knows what was shown.
  for (const folder of start === -1 ? [] : folders.slice(start)) {
    const storedSince = horizons.get(folder.id) ?? Number.MAX_SAFE_INTEGER
    if (storedSince === 0) continue
    // Backfill reads by time. What it has not reached may have any UID.
    const isBackfilled = storedSince < Number.MAX_SAFE_INTEGER
    const older = isBackfilled ? { ...search, before: Math.min(storedSince, search.before ?? storedSince) } : search
    const isFull = rows.length >= size || deps.clock.monotonic() > endMs
    if (isFull) return { rows, next: at(folder) }
    const from = folder.id === position.folderId ? position.token : ''
    const lowest = () => locatedMessages(deps.db.read).lowestListedUid(folder.id)
    const beforeUid = from !== '' ? Number(from) : isBackfilled ? null : await lowest()
    const limit = size - rows.length
    const { messages } = await live
      .listMessages(folder.providerId, { limit: limit + 1, ...(beforeUid !== null && { beforeUid }), search: older })
      .catch(ifGone)
    const page = messages.slice(0, limit)
    const stored = await deps.db.transaction(async (tx) => {
      await deps.accounts.hold(tx, accountId)
      return storeListed(tx, { ...deps, dialect: deps.db.dialect }, { accountId, labelId: folder.id }, page)
    })
    rows.push(...stored)
    const lastUid = page.at(-1)?.location?.uid
    if (messages.length > limit && lastUid !== undefined) return { rows, next: at(folder, String(lastUid)) }
  }
  return { rows, next: undefined }
}

/** Sync has not noticed yet that the folder was deleted. */
function ifGone(error: unknown): { messages: [] } {
  if (error instanceof ProviderError && error.kind === 'not_found') return { messages: [] }
  throw error
}

/** Repeats the comparisons that providers make differently, and leaves out messages that are stored. */
function isWanted(deps: FolderDeps, scope: SearchScope, { since }: OlderPosition, row: MessageRow): boolean {
  const { after, before, unread, hasAttachments } = scope.filter
  return (
    row.goneAt === null &&
    row.receivedAt >= (after ?? 0) &&
    row.receivedAt < (before ?? Number.MAX_SAFE_INTEGER) &&
    (since === null || row.receivedAt < since || (row.receivedAt === since && isFound(row))) &&
    (unread === undefined || (row.unread === 1) === unread) &&
    (hasAttachments === undefined || (row.hasAttachments === 1) === hasAttachments) &&
    deps.search.mayContain(row, scope.words)
  )
}

function definedOnly(search: { [Name in keyof MailSearch]: MailSearch[Name] | undefined }): MailSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))
}

function timedOut(): AppError {
  return new AppError('provider_timeout', { message: 'The provider did not complete the search in time. Try again.' })
}
