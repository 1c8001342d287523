import type { Clock } from '../../lib/clock.ts'
import type { Comparison, MailboxSession, MailboxStep, ScopeSyncRequest } from '../contract/index.ts'
import { type FolderRole, ProviderError, type RemoteFolder } from '../contract/index.ts'
import { type Cursor, type Horizon, readCursor, writeCursor } from './cursor.ts'
import { deltaPath, deltaPreferences, deltaRound, FILTER_LIMIT, firstRequest, GLANCE_MESSAGES } from './delta.ts'
import { FolderList } from './folders.ts'
import { goneMessages } from './gone.ts'
import { answeredPage, type Graph } from './graph.ts'
import { findHorizon, isNewer, wider } from './horizon.ts'
import type { Json, Page } from './json.ts'
import { changesOf } from './steps.ts'

/** Ten thousand requests of one mailbox are allowed in ten minutes: with fifty folders this takes a tenth of them. */
const POLL_INTERVAL_MS = 30_000
/** A position that nothing happened to is renewed so often: Graph forgets old ones. */
const RENEW_MS = 24 * 60 * 60 * 1000
const FIRST_ROLES: readonly (FolderRole | null)[] = ['inbox', 'sent', 'drafts']

/**
 * Each folder has a position of its own. Graph has no call that says which folders changed (the list of folders does not follow their
 * mails, and a mail marked as read does not count as modified), so all are asked in one batch, and what they answer is kept until
 * their turn comes.
 */
export class MicrosoftSession implements MailboxSession {
  readonly pollIntervalMs = POLL_INTERVAL_MS
  readonly #graph: Graph
  readonly #clock: Clock
  readonly #folders: FolderList
  readonly #glances = new Map<string, { cursor: string; page: Page }>()
  #horizon: Horizon | undefined

  constructor(graph: Graph, clock: Clock) {
    this.#graph = graph
    this.#clock = clock
    this.#folders = new FolderList(graph)
  }

  listFolders(): Promise<RemoteFolder[]> {
    return this.#folders.list()
  }

  scopes(folders: readonly RemoteFolder[]): string[] {
    const rank = ({ role }: RemoteFolder) => (FIRST_ROLES.indexOf(role) + FIRST_ROLES.length) % FIRST_ROLES.length
    const isFirst = ({ role }: RemoteFolder) => FIRST_ROLES.includes(role)
    const first = folders.filter(isFirst).sort((one, other) => rank(one) - rank(other))
    return [...first, ...folders.filter((folder) => !isFirst(folder))].map(({ path }) => path)
  }

  async changedScopes(
    scopes: readonly { scope: string; cursor: string | null }[],
    signal: AbortSignal,
  ): Promise<string[]> {
    this.#glances.clear()
    const asked = scopes.flatMap(({ scope, cursor: written }) => {
      const cursor = written === null ? undefined : this.#recall(written)
      if (written === null || cursor === undefined || cursor.listed !== null || cursor.comparing) return []
      const path = deltaPath(scope, cursor.next)
      if (!path.startsWith('/')) return []
      return [{ scope, written, cursor, path, prefer: deltaPreferences(GLANCE_MESSAGES) }]
    })
    const doing = 'asking which folders changed'
    const outcome = await this.#graph.batch(asked, { doing, signal })
    const unchanged = new Set<string>()
    for (const item of asked) {
      const answer = outcome.get(item)
      // Each folder tells of its own failure when its turn comes.
      if (answer instanceof ProviderError) continue
      const page = answeredPage(answer, doing)
      const isOld = this.#clock.now() - item.cursor.atMs > RENEW_MS
      if (page.items.length === 0 && page.nextLink === undefined && !isOld) unchanged.add(item.scope)
      else this.#glances.set(item.scope, { cursor: item.written, page })
    }
    return scopes.map(({ scope }) => scope).filter((scope) => !unchanged.has(scope))
  }

  async *syncScope({ scope, cursor: written, ...request }: ScopeSyncRequest): AsyncGenerator<MailboxStep> {
    const { comparison, signal } = request
    const cursor = written === null ? await this.#beginning(request) : readCursor(written)
    this.#learn(cursor.horizon)
    const glance = this.#glances.get(scope)
    this.#glances.delete(scope)
    const glanced = glance?.cursor === written ? glance?.page : undefined
    const end =
      cursor.comparing && comparison !== undefined
        ? yield* this.#compare(scope, cursor, { comparing: comparison, signal })
        : yield* this.#round(scope, { ...cursor, comparing: false }, { glanced, signal })
    // What was interrupted ends where it would have ended then: what came since takes a round of its own.
    const isResumed = written !== null && (cursor.isOpen || cursor.comparing)
    if (isResumed) yield* this.#round(scope, end, { signal })
  }

  async close(): Promise<void> {
    this.#glances.clear()
  }

  /** Where a folder begins: with its listing. */
  async #beginning(request: Omit<ScopeSyncRequest, 'scope' | 'cursor'>): Promise<Cursor> {
    const { initialMessages, comparison, signal } = request
    if (this.#horizon === undefined) {
      const horizon = await findHorizon(this.#graph, initialMessages, this.#clock.now(), signal)
      const oldestMs = await request.oldest()
      this.#learn(oldestMs === null ? horizon : wider(horizon, { ...horizon, sinceMs: oldestMs }))
      return this.#beginning(request)
    }
    const { sinceMs } = this.#horizon
    return {
      ...{ next: firstRequest(sinceMs), atMs: this.#clock.now(), isOpen: false, listed: 0, filtered: sinceMs !== null },
      ...{ comparing: comparison !== undefined, horizon: this.#horizon },
    }
  }

  /** The listing first, then what has gone; an interrupted comparison goes on with either. */
  async *#compare(
    folderId: string,
    start: Cursor,
    { comparing, signal }: { comparing: Comparison; signal: AbortSignal },
  ): AsyncGenerator<MailboxStep, Cursor> {
    const listed = start.listed === null ? start : yield* this.#round(folderId, start, { signal })
    for await (const removed of goneMessages(this.#graph, folderId, comparing, signal)) {
      yield { refetched: true, found: [], changed: [], removed, cursor: writeCursor(listed) }
    }
    const end = { ...listed, comparing: false }
    yield { refetched: true, found: [], changed: [], removed: [], cursor: writeCursor(end) }
    return end
  }

  /** One round of a folder's changes; the first is its listing. Answers the position of the next round. */
  async *#round(
    folderId: string,
    start: Cursor,
    { glanced, signal }: { glanced?: Page | undefined; signal: AbortSignal },
  ): AsyncGenerator<MailboxStep, Cursor> {
    const { sinceMs } = start.horizon
    const isNew = (item: Json) => isNewer(start.horizon, item)
    let position = start
    for await (const { items, next, isLast } of deltaRound(this.#graph, folderId, {
      next: start.next,
      glanced,
      signal,
    })) {
      const nowMs = this.#clock.now()
      const changes = await changesOf(this.#graph, items, { folderId, sinceMs, isNew, nowMs, signal })
      position = moved(position, { next, atMs: nowMs, count: items.length, isLast })
      yield { refetched: position.comparing, ...changes, cursor: writeCursor(position) }
    }
    return position.listed === null ? position : yield* this.#round(folderId, position, { signal })
  }

  #recall(written: string): Cursor | undefined {
    try {
      const cursor = readCursor(written)
      this.#learn(cursor.horizon)
      return cursor
    } catch {
      return undefined
    }
  }

  #learn(horizon: Horizon): void {
    this.#horizon = this.#horizon === undefined ? horizon : wider(this.#horizon, horizon)
  }
}

/** The position after a page. */
function moved(from: Cursor, page: { next: string; atMs: number; count: number; isLast: boolean }): Cursor {
  const { next, atMs, count, isLast } = page
  const listed = from.listed === null ? null : from.listed + count
  const isCut = isLast && from.filtered && listed !== null && listed >= FILTER_LIMIT
  // The listing was cut off: the folder is listed again, all of it.
  if (isCut) return { ...from, next: firstRequest(null), atMs, isOpen: false, listed: 0, filtered: false }
  return { ...from, next, atMs, isOpen: !isLast, listed: isLast ? null : listed }
}
