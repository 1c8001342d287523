import type { Clock } from '../../../lib/clock.ts'
import {
  type Comparison,
  ENTIRE_MAILBOX,
  FIRST_STEP,
  type FoundMessage,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
  type RemoteFolder,
  type ScopeSyncRequest,
} from '../../contract/index.ts'
import type { RestMailbox } from '../../rest/index.ts'
import { listPage, readProfile } from '../client.ts'
import { labelState, listLabels } from '../folders.ts'
import { POLL_INTERVAL_MS } from '../polling.ts'
import { readHistory } from './changes.ts'
import { compareWindows, difference, type Window } from './compare.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import { Fetcher } from './fetch.ts'

const NOTHING: Omit<MailboxStep, 'cursor' | 'refetched'> = { found: [], changed: [], removed: [] }

/**
 * Syncs the entire mailbox by its history:
 *
 *   first sync:     history position → list of messages ─┐
 *   expired cursor: history position → comparison ───────┴→ history since that position
 *
 * The position is read first, so changes during the listing or comparison are in the history that follows.
 */
export class GmailSession implements MailboxSession {
  readonly pollIntervalMs = POLL_INTERVAL_MS
  readonly #mailbox: RestMailbox
  readonly #fetcher: Fetcher
  readonly #stepMessages: number

  constructor(mailbox: RestMailbox, clock: Clock, stepMessages: number) {
    this.#mailbox = mailbox
    this.#fetcher = new Fetcher(mailbox, clock)
    this.#stepMessages = stepMessages
  }

  listFolders(signal?: AbortSignal): Promise<RemoteFolder[]> {
    return listLabels(this.#mailbox, signal)
  }

  scopes(): string[] {
    return [ENTIRE_MAILBOX]
  }

  async *syncScope(request: ScopeSyncRequest): AsyncGenerator<MailboxStep> {
    const { signal } = request
    let cursor = request.cursor === null ? await this.#begin(request) : readCursor(request.cursor)
    if (cursor.listing !== undefined) cursor = yield* this.#list(cursor, cursor.listing, request)
    if (cursor.comparing !== undefined && request.comparison !== undefined) {
      cursor = yield* this.#compare(cursor, request.comparison, signal)
    }
    yield* this.#followHistory(cursor.history, signal)
  }

  /** Nothing stays open between calls; a running sync ends with its signal. */
  async close(): Promise<void> {}

  async #begin({ initialMessages, comparison, signal }: ScopeSyncRequest): Promise<Cursor> {
    const { historyId: history } = await readProfile(this.#mailbox, signal)
    const hasStored = comparison !== undefined && (await comparison.known()).length > 0
    return hasStored ? { history, comparing: {} } : { history, listing: { page: '', left: initialMessages } }
  }

  /** The newest messages, page by page. A message that the history since the position reports as added is new. */
  async *#list(
    { history }: Cursor,
    listing: NonNullable<Cursor['listing']>,
    { initialMessages, signal }: ScopeSyncRequest,
  ): AsyncGenerator<MailboxStep, Cursor> {
    for (let { page, left } = listing; ; ) {
      const maxResults = Math.min(left, this.#stepMessages)
      if (maxResults === 0) return { history }
      const listed = await this.#listPage(page, maxResults, signal)
      if (listed === undefined) {
        page = ''
        left = initialMessages
        continue
      }
      const { ids, next } = listed
      // A page token may belong to a page size, so the first page is as large as the others, and only its messages come in two steps.
      if (page === '' && ids.length > FIRST_STEP) {
        const found = await this.#listed(ids.splice(0, FIRST_STEP), history, signal)
        yield { ...NOTHING, refetched: false, found, cursor: writeCursor({ history, listing: { page, left } }) }
        left -= FIRST_STEP
      }
      const found = await this.#listed(ids, history, signal)
      left -= ids.length
      const isLast = next === undefined || left <= 0
      const cursor: Cursor = isLast ? { history } : { history, listing: { page: next, left } }
      const storedSince = next === undefined ? 0 : Math.min(...found.map(({ message }) => message.receivedAt))
      const isKnown = isLast && Number.isFinite(storedSince)
      yield { ...NOTHING, refetched: false, found, cursor: writeCursor(cursor), ...(isKnown && { storedSince }) }
      if (isLast) return cursor
      page = next
    }
  }

  /** Messages of the list. Those that the history reports as added since its position are new. */
  async #listed(ids: readonly string[], history: string, signal: AbortSignal): Promise<FoundMessage[]> {
    const { found } = await this.#fetcher.messages(ids, { isNew: false }, signal)
    const hasChanges = found.some(({ historyId }) => historyId > BigInt(history))
    const added = hasChanges ? await this.#addedSince(history, signal) : new Set<string>()
    for (const { message } of found) message.isNew = added.has(message.providerMessageId)
    return found.map(withoutHistoryId)
  }

  /** Undefined when Gmail no longer accepts the page token of an earlier response: the list begins again. */
  async #listPage(page: string, maxResults: number, signal: AbortSignal) {
    try {
      return await listPage(this.#mailbox, { maxResults, pageToken: page || undefined }, signal)
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'rejected' && page !== '' && !error.missingScope)
        return undefined
      throw error
    }
  }

  async #addedSince(history: string, signal: AbortSignal): Promise<Set<string>> {
    const added = new Set<string>()
    for (let since = history; ; ) {
      const page = await readHistory(this.#mailbox, since, { signal, historyTypes: ['messageAdded'] })
      for (const id of page.added) added.add(id)
      if (page.isLast) return added
      since = page.next
    }
  }

  /** Compares everything from the oldest stored message on, newest first. */
  async *#compare(cursor: Cursor, comparison: Comparison, signal: AbortSignal): AsyncGenerator<MailboxStep, Cursor> {
    const labels = (await listLabels(this.#mailbox, signal)).map(({ path }) => path)
    const { history } = cursor
    const last = cursor.comparing?.behind
    const after = last && {
      ...{ providerMessageId: last.id, receivedAt: last.receivedAt, unread: false, starred: false, folders: [] },
    }
    let position = cursor
    for await (const window of compareWindows(this.#mailbox, labels, { comparison, after, signal })) {
      yield* this.#differences(window, writeCursor(position), signal)
      const oldest = window.known.at(-1)
      if (oldest === undefined) break
      position = { history, comparing: { behind: { id: oldest.providerMessageId, receivedAt: oldest.receivedAt } } }
    }
    const done = { history }
    yield { ...NOTHING, refetched: true, cursor: writeCursor(done) }
    return done
  }

  /** All steps carry the cursor from before the window: an interrupted window is compared again. */
  async *#differences(window: Window, cursor: string, signal: AbortSignal): AsyncGenerator<MailboxStep> {
    for (const changed of chunks(window.changed, this.#stepMessages)) {
      yield { ...NOTHING, refetched: true, changed, cursor }
    }
    // The query was in whole seconds: messages older than everything stored are left out.
    const oldestMs = window.known.at(-1)?.receivedAt ?? 0
    for (const ids of chunks(window.unknown, this.#stepMessages)) {
      const { found } = await this.#fetcher.messages(ids, { isNew: false }, signal)
      const inWindow = found.filter(({ message }) => message.receivedAt >= oldestMs)
      yield { ...NOTHING, refetched: true, found: inWindow.map(withoutHistoryId), cursor }
    }
    // The list is a search index and may lag: only the message itself shows that it was deleted.
    const known = new Map(window.known.map((message) => [message.providerMessageId, message]))
    for (const ids of chunks(window.missing, this.#stepMessages)) {
      const labels = await this.#fetcher.labels(ids, signal)
      const removed = ids.filter((id) => labels.get(id) === null)
      const changed = ids.flatMap((id) => {
        const message = known.get(id)
        return message === undefined ? [] : difference(message, labels.get(id) ?? undefined)
      })
      yield { ...NOTHING, refetched: true, changed, removed, cursor }
    }
  }

  async *#followHistory(history: string, signal: AbortSignal): AsyncGenerator<MailboxStep> {
    for (let since = history; ; ) {
      const page = await readHistory(this.#mailbox, since, { signal, maxResults: this.#stepMessages })
      const unlabelled = page.relabelled.filter(({ labels }) => labels === null).map(({ id }) => id)
      const fetchedLabels = await this.#fetcher.labels(unlabelled, signal)
      const deleted = unlabelled.filter((id) => fetchedLabels.get(id) === null)
      const changed = page.relabelled.flatMap(({ id, labels }) => {
        const labelIds = labels ?? fetchedLabels.get(id)
        return labelIds ? [{ providerMessageId: id, ...labelState(labelIds) }] : []
      })
      const cursor = writeCursor({ history: since })
      // One record may hold hundreds of messages. Then only the last step advances the cursor.
      const addedChunks = chunks(page.added, this.#stepMessages)
      const [lastAdded = []] = addedChunks.splice(-1)
      for (const ids of addedChunks) yield { ...(await this.#added(ids, signal)), cursor }
      const changedChunks = chunks(changed, this.#stepMessages)
      const [lastChanged = []] = changedChunks.splice(-1)
      for (const chunk of changedChunks) yield { ...NOTHING, refetched: false, changed: chunk, cursor }
      const added = await this.#added(lastAdded, signal)
      const removed = [...added.removed, ...page.removed, ...deleted]
      const isEmpty = page.next === since && removed.length + added.found.length + lastChanged.length === 0
      if (!isEmpty) yield { ...added, changed: lastChanged, removed, cursor: writeCursor({ history: page.next }) }
      if (page.isLast) return
      since = page.next
    }
  }

  async #added(ids: readonly string[], signal: AbortSignal): Promise<Omit<MailboxStep, 'cursor'>> {
    const { found, deleted } = await this.#fetcher.messages(ids, { isNew: true }, signal)
    return { refetched: false, found: found.map(withoutHistoryId), changed: [], removed: deleted }
  }
}

function withoutHistoryId({ message, folders }: FoundMessage): FoundMessage {
  return { message, folders }
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}
