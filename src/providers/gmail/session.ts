import type { Clock } from '../../lib/clock.ts'
import {
  type Comparison,
  ENTIRE_MAILBOX,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
  type RemoteFolder,
  type ScopeSyncRequest,
} from '../contract/index.ts'
import type { RestMailbox } from '../rest/index.ts'
import { listPage, readProfile } from './api.ts'
import { difference, type Stretch, stretches } from './compare.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import { Fetcher } from './fetch.ts'
import { readHistory } from './history.ts'
import { labelState, listLabels } from './labels.ts'

/** One request of two quota units each time: it may be asked often. */
const POLL_INTERVAL_MS = 30_000

type Changes = Omit<MailboxStep, 'cursor' | 'refetched'>
const NOTHING: Changes = { found: [], changed: [], removed: [] }

/**
 * One history for all of a mailbox. Its position is taken before anything is listed, so that what happens meanwhile is in it; the
 * first sync and a comparison end with it.
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

  listFolders(): Promise<RemoteFolder[]> {
    return listLabels(this.#mailbox)
  }

  scopes(): string[] {
    return [ENTIRE_MAILBOX]
  }

  async *syncScope(request: ScopeSyncRequest): AsyncGenerator<MailboxStep> {
    const { signal } = request
    let cursor = request.cursor === null ? await this.#beginning(request) : readCursor(request.cursor)
    if (cursor.listing !== undefined) cursor = yield* this.#list(cursor, cursor.listing, request)
    if (cursor.comparing !== undefined && request.comparison !== undefined) {
      cursor = yield* this.#compare(cursor, request.comparison, signal)
    }
    yield* this.#follow(cursor.history, signal)
  }

  /** Nothing is open between calls; what is under way ends with its signal. */
  async close(): Promise<void> {}

  async #beginning({ initialMessages, comparison, signal }: ScopeSyncRequest): Promise<Cursor> {
    const { historyId: history } = await readProfile(this.#mailbox, signal)
    const isComparable = comparison !== undefined && (await comparison.known()).length > 0
    return isComparable ? { history, comparing: {} } : { history, listing: { page: '', left: initialMessages } }
  }

  /** The newest mails, page by page. What the history has as added since it began to be followed came meanwhile, and is new. */
  async *#list(
    { history }: Cursor,
    listing: NonNullable<Cursor['listing']>,
    { initialMessages, signal }: ScopeSyncRequest,
  ): AsyncGenerator<MailboxStep, Cursor> {
    for (let { page, left } = listing; ; ) {
      const maxResults = Math.min(left, this.#stepMessages)
      if (maxResults === 0) return { history }
      const listed = await this.#page(page, maxResults, signal)
      if (listed === undefined) {
        page = ''
        left = initialMessages
        continue
      }
      const { ids, next } = listed
      const { found } = await this.#fetcher.messages(ids, () => false, signal)
      const isTouched = found.some(({ historyId }) => historyId > BigInt(history))
      const since = isTouched ? await this.#addedSince(history, signal) : new Set<string>()
      for (const { message } of found) message.isNew = since.has(message.providerMessageId)
      left -= ids.length
      const isLast = next === undefined || left <= 0
      const cursor: Cursor = isLast ? { history } : { history, listing: { page: next, left } }
      yield { ...NOTHING, refetched: false, found: found.map(plain), cursor: writeCursor(cursor) }
      if (isLast) return cursor
      page = next
    }
  }

  /** Undefined: the page of an earlier answer is known no more, and the list begins anew. */
  async #page(page: string, maxResults: number, signal: AbortSignal) {
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

  /** Everything from the oldest stored mail on, newest first. */
  async *#compare(cursor: Cursor, comparing: Comparison, signal: AbortSignal): AsyncGenerator<MailboxStep, Cursor> {
    const labels = (await listLabels(this.#mailbox, signal)).map(({ path }) => path)
    const { history } = cursor
    const at = cursor.comparing?.behind
    const behind =
      at === undefined
        ? undefined
        : { providerMessageId: at.id, receivedAt: at.receivedAt, unread: false, starred: false, folders: [] }
    let position = cursor
    for await (const stretch of stretches(this.#mailbox, labels, { comparing, behind, signal })) {
      yield* this.#differences(stretch, writeCursor(position), signal)
      const last = stretch.known.at(-1)
      if (last === undefined) break
      position = { history, comparing: { behind: { id: last.providerMessageId, receivedAt: last.receivedAt } } }
    }
    const done = { history }
    yield { ...NOTHING, refetched: true, cursor: writeCursor(done) }
    return done
  }

  /** In steps with the cursor before the stretch: it is gone through again when it was not finished. */
  async *#differences(stretch: Stretch, cursor: string, signal: AbortSignal): AsyncGenerator<MailboxStep> {
    for (const changed of chunks(stretch.changed, this.#stepMessages)) {
      yield { ...NOTHING, refetched: true, changed, cursor }
    }
    // It was asked for in whole seconds: what is older than everything stored stays away.
    const oldestMs = stretch.known.at(-1)?.receivedAt ?? 0
    for (const ids of chunks(stretch.unknown, this.#stepMessages)) {
      const { found } = await this.#fetcher.messages(ids, () => false, signal)
      const isWithin = ({ message }: MailboxStep['found'][number]) => message.receivedAt >= oldestMs
      yield { ...NOTHING, refetched: true, found: found.filter(isWithin).map(plain), cursor }
    }
    // The list is an index and may be behind: only the mail itself says that it has gone.
    const known = new Map(stretch.known.map((mail) => [mail.providerMessageId, mail]))
    for (const ids of chunks(stretch.missing, this.#stepMessages)) {
      const labels = await this.#fetcher.labels(ids, signal)
      const removed = ids.filter((id) => labels.get(id) === null)
      const changed = ids.flatMap((id) => {
        const mail = known.get(id)
        return mail === undefined ? [] : difference(mail, labels.get(id) ?? undefined)
      })
      yield { ...NOTHING, refetched: true, changed, removed, cursor }
    }
  }

  async *#follow(history: string, signal: AbortSignal): AsyncGenerator<MailboxStep> {
    for (let since = history; ; ) {
      const page = await readHistory(this.#mailbox, since, { signal, maxResults: this.#stepMessages })
      const unsaid = page.relabelled.filter(({ labels }) => labels === null).map(({ id }) => id)
      const asked = await this.#fetcher.labels(unsaid, signal)
      const gone = unsaid.filter((id) => asked.get(id) === null)
      const changed = page.relabelled.flatMap(({ id, labels }) => {
        const labelIds = labels ?? asked.get(id)
        return labelIds ? [{ providerMessageId: id, ...labelState(labelIds) }] : []
      })
      const cursor = writeCursor({ history: since })
      // A record is mostly one mail. Where it is hundreds, all but the last of its steps lead back to its beginning.
      const batches = chunks(page.added, this.#stepMessages)
      const [last = []] = batches.splice(-1)
      for (const ids of batches) yield { ...(await this.#added(ids, signal)), cursor }
      const relabelled = chunks(changed, this.#stepMessages)
      const [rest = []] = relabelled.splice(-1)
      for (const some of relabelled) yield { ...NOTHING, refetched: false, changed: some, cursor }
      const found = await this.#added(last, signal)
      const removed = [...found.removed, ...page.removed, ...gone]
      const isNothing = page.next === since && removed.length + found.found.length + rest.length === 0
      if (!isNothing) yield { ...found, changed: rest, removed, cursor: writeCursor({ history: page.next }) }
      if (page.isLast) return
      since = page.next
    }
  }

  async #added(ids: readonly string[], signal: AbortSignal): Promise<Changes & { refetched: false }> {
    const { found, gone } = await this.#fetcher.messages(ids, () => true, signal)
    return { refetched: false, found: found.map(plain), changed: [], removed: gone }
  }
}

function plain({ message, folders }: MailboxStep['found'][number]): MailboxStep['found'][number] {
  return { message, folders }
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}
