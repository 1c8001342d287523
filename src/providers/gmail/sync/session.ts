import type { Clock } from '../../../platform/time/clock.ts'
import {
  type Comparison,
  type Control,
  ENTIRE_MAILBOX,
  type FailedMessage,
  type FoundMessage,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
  type ReadAgain,
  type ReadAgainRequest,
  type RemoteFolder,
  type ScopeSyncRequest,
} from '../../contract/index.ts'
import { PageLinks } from '../../shared/rest/index.ts'
import { listPage, readProfile } from '../client.ts'
import { labelState, listLabels } from '../folders.ts'
import { POLL_INTERVAL_MS } from '../polling.ts'
import type { GmailMailbox } from '../quota.ts'
import { type HistoryPage, readHistory } from './changes.ts'
import { compareWindows, difference, type Window } from './compare.ts'
import { type Cursor, readCursor, readDone, writeCursor, writeDone } from './cursor.ts'
import { type Fetched, Fetcher } from './fetch.ts'

/** Messages of one page of the list, and records of one page of the history: as many as a cursor can name. */
const LIST_PAGE = 200
const HISTORY_PAGE = 100

const HISTORY = 'reading the history of the mailbox'
const NOTHING: Omit<MailboxStep, 'cursor' | 'refetched'> = { found: [], changed: [], removed: [] }

/**
 * Syncs the entire mailbox by its history:
 *
 *   first sync:     history position → list of messages ─┐
 *   expired cursor: history position → comparison ───────┴→ history since that position
 *
 * The position is read first, so changes during the listing or comparison are in the history that follows. A step holds what one
 * request returned, and its cursor names the messages of the page that are stored: whatever the quota allows is stored before sync waits
 * or fails, and is not fetched again.
 */
export class GmailSession implements MailboxSession {
  readonly pollIntervalMs = POLL_INTERVAL_MS
  readonly #mailbox: GmailMailbox
  readonly #fetcher: Fetcher
  readonly #stepMessages: number

  constructor(mailbox: GmailMailbox, clock: Clock, stepMessages: number) {
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
    let cursor = request.cursor === null ? await this.#begin(request) : readCursor(request.cursor)
    if (cursor.listing !== undefined) cursor = yield* this.#list(cursor, cursor.listing, request)
    if (cursor.comparing !== undefined && request.comparison !== undefined) {
      cursor = yield* this.#compare(cursor, request.comparison, request)
    }
    yield* this.#followHistory(cursor, request)
  }

  readAgain(request: ReadAgainRequest): Promise<ReadAgain> {
    return this.#fetcher.again(request)
  }

  /** Nothing stays open between calls; a running sync ends with its signal. */
  async close(): Promise<void> {}

  async #begin({ initialMessages, comparison, signal }: ScopeSyncRequest): Promise<Cursor> {
    const { historyId: history } = await readProfile(this.#mailbox, signal)
    const hasStored = comparison !== undefined && (await comparison.listStored()).length > 0
    return hasStored ? { history, comparing: {} } : { history, listing: { page: '', left: initialMessages } }
  }

  /** The newest messages, page by page. A message that the history since the position reports as added is new. */
  async *#list(
    cursor: Cursor,
    listing: NonNullable<Cursor['listing']>,
    { initialMessages, control, signal }: ScopeSyncRequest,
  ): AsyncGenerator<MailboxStep, Cursor> {
    const { history } = cursor
    let done = readDone(cursor)
    let oldestMs = Number.POSITIVE_INFINITY
    const links = new PageLinks('listing messages')
    for (let { page, left } = listing; ; ) {
      // A page token may belong to a page size, so a page is read with the same size again.
      const maxResults = Math.min(left, this.#stepMessages, LIST_PAGE)
      if (maxResults === 0) return { history }
      const listed = await this.#listPage(page, maxResults, signal)
      if (listed === undefined) {
        page = ''
        left = initialMessages
        done = new Set()
        continue
      }
      const { ids, next: following } = listed
      const next = following && links.follow(following, ids.length)
      const leftAfter = left - ids.length
      const isLast = next === undefined || leftAfter <= 0
      const after: Cursor = isLast ? { history } : { history, listing: { page: next, left: leftAfter } }
      const isRead = () => ids.every((id) => done.has(id))
      const step = ({ found, failed }: Listed): MailboxStep => {
        for (const { message } of found) oldestMs = Math.min(oldestMs, message.receivedAt)
        const storedSince = next === undefined ? 0 : oldestMs
        const isKnown = isLast && isRead() && Number.isFinite(storedSince)
        const here: Cursor = { history, listing: { page, left }, ...writeDone(done) }
        const reached = writeCursor(isRead() ? after : here)
        return { ...NOTHING, refetched: false, found, failed, cursor: reached, ...(isKnown && { storedSince }) }
      }
      const wanted = ids.filter((id) => !done.has(id))
      if (wanted.length === 0) yield step({ found: [], failed: [] })
      for await (const fetched of this.#fetcher.messages(wanted, { isNew: false, control }, signal)) {
        const listedNow = await this.#listed(fetched, history, signal)
        for (const id of idsOf(fetched)) done.add(id)
        yield step(listedNow)
      }
      if (isLast) return after
      done = new Set()
      page = next
      left = leftAfter
    }
  }

  /** Messages of the list. Those that the history reports as added since its position are new. */
  async #listed({ found, failed }: Fetched, history: string, signal: AbortSignal): Promise<Listed> {
    const hasChanges = failed.length > 0 || found.some(({ historyId }) => historyId > BigInt(history))
    const added = hasChanges ? await this.#addedSince(history, signal) : new Set<string>()
    for (const { message } of found) message.isNew = added.has(message.providerMessageId)
    return {
      found: found.map(withoutHistoryId),
      failed: failed.map((failure) => ({ ...failure, isNew: added.has(failure.providerMessageId) })),
    }
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
    const links = new PageLinks(HISTORY)
    for (let since = history; ; ) {
      const page = await readHistory(this.#mailbox, since, { signal, historyTypes: ['messageAdded'] })
      for (const id of page.added) added.add(id)
      if (page.isLast) return added
      since = links.follow(page.next, 1)
    }
  }

  /** Compares everything from the oldest stored message on, newest first. */
  async *#compare(
    cursor: Cursor,
    comparison: Comparison,
    request: ScopeSyncRequest,
  ): AsyncGenerator<MailboxStep, Cursor> {
    const { signal } = request
    const labels = (await listLabels(this.#mailbox, signal)).map(({ path }) => path)
    const { history } = cursor
    const last = cursor.comparing?.behind
    const after = last && {
      providerMessageId: last.id,
      receivedAt: last.receivedAt,
      unread: false,
      starred: false,
      folders: [],
    }
    let position = cursor
    for await (const window of compareWindows(this.#mailbox, labels, { comparison, after, signal })) {
      yield* this.#differences(window, writeCursor(position), request)
      const oldest = window.stored.at(-1)
      if (oldest === undefined) break
      position = { history, comparing: { behind: { id: oldest.providerMessageId, receivedAt: oldest.receivedAt } } }
    }
    const done = { history }
    yield { ...NOTHING, refetched: true, cursor: writeCursor(done) }
    return done
  }

  /** All steps carry the cursor from before the window: an interrupted window is compared again. */
  async *#differences(
    window: Window,
    cursor: string,
    { control, signal }: ScopeSyncRequest,
  ): AsyncGenerator<MailboxStep> {
    for (const changed of chunks(window.changed, this.#stepMessages)) {
      yield { ...NOTHING, refetched: true, changed, cursor }
    }
    // The query was in whole seconds: messages older than everything stored are left out.
    const oldestMs = window.stored.at(-1)?.receivedAt ?? 0
    for await (const fetched of this.#fetcher.messages(window.unknown, { isNew: false, control }, signal)) {
      const { found, failed } = fetched
      const inWindow = found.filter(({ message }) => message.receivedAt >= oldestMs)
      yield { ...NOTHING, refetched: true, found: inWindow.map(withoutHistoryId), failed, cursor }
    }
    // The list is a search index and may lag: only the message itself shows that it was deleted.
    const stored = new Map(window.stored.map((message) => [message.providerMessageId, message]))
    for await (const { labels, failed } of this.#fetcher.labels(window.missing, control, signal)) {
      const removed = [...labels].filter(([, labelIds]) => labelIds === null).map(([id]) => id)
      const changed = [...labels].flatMap(([id, labelIds]) => {
        const message = stored.get(id)
        return message === undefined ? [] : difference(message, labelIds ?? undefined)
      })
      yield { ...NOTHING, refetched: true, changed, removed, failed, cursor }
    }
  }

  async *#followHistory(begin: Cursor, { control, signal }: ScopeSyncRequest): AsyncGenerator<MailboxStep> {
    let done = readDone(begin)
    const links = new PageLinks(HISTORY)
    for (let since = links.follow(begin.history, 1); ; ) {
      const maxResults = Math.min(this.#stepMessages, HISTORY_PAGE)
      const page = await readHistory(this.#mailbox, since, { signal, maxResults, stored: done })
      const here = () => writeCursor({ history: since, ...writeDone(done) })
      const { changed, removed, failed } = await this.#relabelled(page, control, signal)
      // One record may hold hundreds of messages. Only the last step advances the cursor.
      const changedChunks = chunks(changed, this.#stepMessages)
      const [lastChanged = []] = changedChunks.splice(-1)
      for (const chunk of changedChunks) yield { ...NOTHING, refetched: false, changed: chunk, cursor: here() }
      let last: Fetched = { found: [], deleted: [], failed: [] }
      for await (const fetched of this.#fetcher.messages(page.added, { isNew: true, control }, signal)) {
        for (const id of idsOf(fetched)) done.add(id)
        last = fetched
        if (page.added.every((id) => done.has(id))) break
        yield { ...NOTHING, refetched: false, ...toStep(fetched, page), cursor: here() }
      }
      const added = toStep(last, page)
      const others = lastChanged.length + removed.length + failed.length
      const isEmpty = page.next === since && done.size === 0 && others === 0
      const changes = {
        found: added.found,
        changed: lastChanged,
        removed: [...added.removed, ...removed],
        failed: [...added.failed, ...failed],
      }
      if (!isEmpty) yield { ...changes, refetched: false, cursor: writeCursor({ history: page.next }) }
      if (page.isLast) return
      since = links.follow(page.next, 1)
      done = new Set()
    }
  }

  /** The changes of a page of the history. Fetches the labels that the history omits. */
  async #relabelled(page: HistoryPage, control: Control | undefined, signal: AbortSignal): Promise<Relabelled> {
    const unlabelled = page.relabelled.filter(({ labels }) => labels === null).map(({ id }) => id)
    const fetched = new Map<string, string[] | null>()
    const failed: FailedMessage[] = []
    for await (const read of this.#fetcher.labels(unlabelled, control, signal)) {
      for (const [id, labelIds] of read.labels) fetched.set(id, labelIds)
      failed.push(...read.failed)
    }
    const changed = page.relabelled.flatMap(({ id, labels }) => {
      const labelIds = labels ?? fetched.get(id)
      return labelIds ? [{ providerMessageId: id, ...labelState(labelIds) }] : []
    })
    const removed = [...page.removed, ...unlabelled.filter((id) => fetched.get(id) === null)]
    return { changed, removed, failed }
  }
}

/** Messages of the list. */
interface Listed {
  found: FoundMessage[]
  failed: FailedMessage[]
}

interface Relabelled extends Pick<MailboxStep, 'changed' | 'removed'> {
  failed: FailedMessage[]
}

/** Messages whose ids the cursor may name as stored. */
function idsOf({ found, deleted, failed }: Fetched): string[] {
  const read = found.map(({ message }) => message.providerMessageId)
  return [...read, ...deleted, ...failed.map(({ providerMessageId }) => providerMessageId)]
}

/** Added messages. Those that failed have the labels that the history contains. */
function toStep({ found, deleted, failed }: Fetched, { labels }: HistoryPage) {
  return {
    found: found.map(withoutHistoryId),
    removed: deleted,
    failed: failed.map((failure) => {
      const labelIds = labels.get(failure.providerMessageId)
      return labelIds === undefined ? failure : { ...failure, ...labelState(labelIds) }
    }),
  }
}

function withoutHistoryId({ message, folders }: FoundMessage): FoundMessage {
  return { message, folders }
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}
