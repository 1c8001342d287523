import type { Clock } from '../../../platform/time/clock.ts'
import {
  type Comparison,
  type FolderRole,
  type KnownFolders,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
  type ReadAgain,
  type ReadAgainRequest,
  type ReadMessages,
  type RemoteFolder,
  type ScopeSyncRequest,
} from '../../contract/index.ts'
import { type Json, mayBeOfMessage } from '../../shared/rest/index.ts'
import { type BatchResult, type Graph, type Page, requirePage, SYNC_LIMITS } from '../client.ts'
import { FolderList } from '../folders.ts'
import { isTooLarge, PageSize } from '../page-size.ts'
import { POLL_INTERVAL_MS } from '../polling.ts'
import { CHECK_MESSAGES, deltaPath, deltaPreferences, deltaRound, FILTER_LIMIT, firstRequest } from './changes.ts'
import { deletedMessages } from './compare.ts'
import { type Cursor, findHorizon, type Horizon, isNewer, readCursor, wider, writeCursor } from './cursor.ts'
import { readChanges, readMessages } from './fetch.ts'
import { readAgain } from './read-again.ts'

/** The cursor of an unchanged folder is renewed this often, because Graph forgets old ones. */
const RENEW_MS = 24 * 60 * 60 * 1000
const FIRST_ROLES: readonly (FolderRole | null)[] = ['inbox', 'sent', 'drafts']

/**
 * Syncs each folder by a delta query of its own. Graph has no request for the folders that changed: the folder list does not reflect
 * their messages, and marking a message as read does not count as a modification. So `changedScopes` sends the delta queries of
 * all folders in batches and keeps the pages for `syncScope`.
 */
export class MicrosoftSession implements MailboxSession {
  readonly pollIntervalMs = POLL_INTERVAL_MS
  readonly #graph: Graph
  readonly #clock: Clock
  readonly #folders: FolderList
  /** By scope: a folder that fails by itself does not slow down the others. */
  readonly #pageSizes = new Map<string, PageSize>()
  /** Pages that `changedScopes` received, by scope, with the cursor they belong to. */
  readonly #firstPages = new Map<string, { cursor: string; page: Page }>()
  #horizon: Horizon | undefined

  constructor(graph: Graph, clock: Clock) {
    this.#graph = graph
    this.#clock = clock
    this.#folders = new FolderList(graph)
  }

  listFolders(signal?: AbortSignal, listKnown?: KnownFolders): Promise<RemoteFolder[]> {
    return this.#folders.list(signal, listKnown)
  }

  scopes(folders: readonly RemoteFolder[]): string[] {
    const rank = ({ role }: RemoteFolder) => FIRST_ROLES.indexOf(role)
    const first = folders.filter((folder) => rank(folder) >= 0).sort((one, other) => rank(one) - rank(other))
    return [...first, ...folders.filter((folder) => rank(folder) < 0)].map(({ path }) => path)
  }

  async changedScopes(
    scopes: readonly { scope: string; cursor: string | null }[],
    signal: AbortSignal,
  ): Promise<string[]> {
    this.#firstPages.clear()
    const items = scopes.flatMap(({ scope, cursor: written }) => {
      const cursor = written === null ? undefined : this.#readable(written)
      if (written === null || cursor === undefined || cursor.listed !== null || cursor.comparing) return []
      const path = deltaPath(scope, cursor.next)
      return path.startsWith('/') ? [{ scope, written, cursor, path }] : []
    })
    const doing = 'checking which folders changed'
    const results = await this.#check(items, { doing, signal })
    const unchanged = new Set<string>()
    for (const [index, item] of items.entries()) {
      const result = results[index]
      // `syncScope` throws the error of this folder.
      const page = result === undefined ? undefined : readablePage(result, doing)
      if (page === undefined) continue
      const isOld = this.#clock.now() - item.cursor.atMs > RENEW_MS
      if (page.items.length === 0 && page.nextLink === undefined && !isOld) unchanged.add(item.scope)
      else this.#firstPages.set(item.scope, { cursor: item.written, page })
    }
    return scopes.map(({ scope }) => scope).filter((scope) => !unchanged.has(scope))
  }

  /** Sends the first delta request of each folder. Asks for smaller pages while all of them are too large. */
  async #check(
    items: readonly { scope: string; path: string }[],
    { doing, signal }: { doing: string; signal: AbortSignal },
  ): Promise<(BatchResult | undefined)[]> {
    for (;;) {
      const sized = items.map(({ scope, path }) => {
        const pageSize = this.#choosePageSize(scope)
        const messages = pageSize.limit(CHECK_MESSAGES)
        return { pageSize, messages, part: { path, prefer: deltaPreferences(messages) } }
      })
      const parts = sized.map(({ part }) => part)
      try {
        const received = await this.#graph.batch(parts, { doing, signal, ...SYNC_LIMITS })
        for (const { pageSize, messages, part } of sized) if (isTooLarge(received.get(part))) pageSize.shrink(messages)
        return parts.map((part) => received.get(part))
      } catch (error) {
        const smaller = isTooLarge(error) ? sized.filter(({ pageSize, messages }) => pageSize.shrink(messages)) : []
        if (smaller.length > 0) continue
        // All that were checked failed. Those need not be all folders.
        if (!(error instanceof ProviderError) || !mayBeOfMessage(error) || error.retryAfterMs !== undefined) throw error
        return parts.map(() => error)
      }
    }
  }

  #choosePageSize(scope: string): PageSize {
    const pageSize = this.#pageSizes.get(scope) ?? new PageSize()
    this.#pageSizes.set(scope, pageSize)
    return pageSize
  }

  async *syncScope({ scope, cursor: written, ...request }: ScopeSyncRequest): AsyncGenerator<MailboxStep> {
    const { comparison, signal } = request
    const cursor = written === null ? await this.#begin(request) : readCursor(written)
    this.#widenHorizon(cursor.horizon)
    const received = this.#firstPages.get(scope)
    this.#firstPages.delete(scope)
    const firstPage = received?.cursor === written ? received?.page : undefined
    const end =
      cursor.comparing && comparison !== undefined
        ? yield* this.#compare(scope, cursor, { comparison, signal })
        : yield* this.#round(scope, { ...cursor, comparing: false }, { firstPage, signal })
    // An interrupted round ends with the state at its time: changes since then need a round of their own.
    const isResumed = written !== null && (cursor.isOpen || cursor.comparing)
    if (isResumed) yield* this.#round(scope, end, { signal })
  }

  async readMessages(ids: readonly string[], signal: AbortSignal): Promise<ReadMessages> {
    const context = { folderId: '', isNew: () => false, nowMs: this.#clock.now(), signal }
    return readMessages(this.#graph, ids, { ...context, isListed: (id) => this.#folders.has(id) })
  }

  readAgain(request: ReadAgainRequest): Promise<ReadAgain> {
    return readAgain(this.#graph, request, this.#clock.now())
  }

  async close(): Promise<void> {
    this.#firstPages.clear()
  }

  /** The cursor of a folder's first sync: its listing. */
  async #begin(request: Omit<ScopeSyncRequest, 'scope' | 'cursor'>): Promise<Cursor> {
    const { initialMessages, comparison, signal } = request
    if (this.#horizon === undefined) {
      const horizon = await findHorizon(this.#graph, initialMessages, {
        nowMs: this.#clock.now(),
        signal,
      })
      const oldestMs = await request.oldest()
      this.#widenHorizon(oldestMs === null ? horizon : wider(horizon, { ...horizon, sinceMs: oldestMs }))
      return this.#begin(request)
    }
    const { sinceMs } = this.#horizon
    return {
      next: firstRequest(sinceMs),
      atMs: this.#clock.now(),
      isOpen: false,
      listed: 0,
      filtered: sinceMs !== null,
      comparing: comparison !== undefined,
      horizon: this.#horizon,
    }
  }

  /** First the listing, then the deleted messages. An interrupted comparison continues with either. */
  async *#compare(
    folderId: string,
    start: Cursor,
    { comparison, signal }: { comparison: Comparison; signal: AbortSignal },
  ): AsyncGenerator<MailboxStep, Cursor> {
    const listed = start.listed === null ? start : yield* this.#round(folderId, start, { signal })
    const pageSize = this.#choosePageSize(folderId)
    for await (const removed of deletedMessages(this.#graph, folderId, { ...comparison, pageSize }, signal)) {
      yield { refetched: true, found: [], changed: [], removed, cursor: writeCursor(listed) }
    }
    const end = { ...listed, comparing: false }
    yield { refetched: true, found: [], changed: [], removed: [], cursor: writeCursor(end) }
    return end
  }

  /** One round of a folder's changes; the first is its listing. Returns the cursor of the next round. */
  async *#round(
    folderId: string,
    start: Cursor,
    { firstPage, signal }: { firstPage?: Page | undefined; signal: AbortSignal },
  ): AsyncGenerator<MailboxStep, Cursor> {
    const { sinceMs } = start.horizon
    const isNew = (item: Json) => isNewer(start.horizon, item)
    const isListed = (id: string) => this.#folders.has(id)
    let position = start
    for await (const { items, next, isLast } of deltaRound(this.#graph, folderId, {
      next: start.next,
      isListing: start.listed === 0,
      firstPage,
      pageSize: this.#choosePageSize(folderId),
      signal,
    })) {
      const nowMs = this.#clock.now()
      const newSince = start.horizon.baselineMs
      const context = { folderId, sinceMs, newSince, isNew, isListed, nowMs, signal }
      const edits = await readChanges(this.#graph, items, context)
      const wasListing = position.listed !== null
      position = afterPage(position, { next, atMs: nowMs, count: items.length, isLast })
      const isComplete = wasListing && position.listed === null
      const storedSince = sinceMs ?? 0
      yield {
        refetched: position.comparing,
        ...edits,
        cursor: writeCursor(position),
        ...(isComplete && { storedSince }),
      }
    }
    return position.listed === null ? position : yield* this.#round(folderId, position, { signal })
  }

  #readable(written: string): Cursor | undefined {
    try {
      const cursor = readCursor(written)
      this.#widenHorizon(cursor.horizon)
      return cursor
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      return undefined
    }
  }

  #widenHorizon(horizon: Horizon): void {
    this.#horizon = this.#horizon === undefined ? horizon : wider(this.#horizon, horizon)
  }
}

function afterPage(from: Cursor, page: { next: string; atMs: number; count: number; isLast: boolean }): Cursor {
  const { next, atMs, count, isLast } = page
  const listed = from.listed === null ? null : from.listed + count
  const isTruncated = isLast && from.filtered && listed !== null && listed >= FILTER_LIMIT
  // Lists the folder again, without the filter.
  if (isTruncated) return { ...from, next: firstRequest(null), atMs, isOpen: false, listed: 0, filtered: false }
  return { ...from, next, atMs, isOpen: !isLast, listed: isLast ? null : listed }
}

function readablePage(result: BatchResult, doing: string): Page | undefined {
  try {
    return requirePage(result, doing)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return undefined
  }
}
