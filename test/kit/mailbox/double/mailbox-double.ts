import {
  ENTIRE_MAILBOX,
  type FolderRole,
  type FoundMessage,
  type IdMailProvider,
  type KnownMailboxMessage,
  type MailAccess,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
  type RemoteFolder,
  type RemoteMessage,
  type ScopeSyncRequest,
} from '../../../../src/providers/contract/index.ts'
import { doubleDrafts } from './drafts.ts'
import { doubleFolderEdits } from './folders.ts'
import { backfillDouble, foundMessage, searchDouble } from './found.ts'
import { buildFolder, memoryStore } from './store.ts'
import { readAgainDouble, readable } from './unreadable.ts'

export { fileStore } from './store.ts'

import { toContent } from '../../messages/ranges.ts'

/** A message at the provider. */
export interface DoubleMessage {
  id: string
  folders: string[]
  unread: boolean
  starred: boolean
  receivedAt: number
  subject: string
  text: string
  html?: string | null
  /** Addresses, attachments and other fields that the text does not contain. */
  parsed?: Partial<Omit<RemoteMessage, 'providerMessageId'>>
  /** Contents of the attachments in base64, by their ids. */
  files?: Record<string, string>
  /** Number of the change that added it. */
  arrived: number
}

/** The provider's state, as JSON, so that several processes can share it in a file. */
export interface DoubleState {
  folders: RemoteFolder[]
  messages: Record<string, DoubleMessage>
  /** Every change in order: the message and its folders before the change. */
  log: { number: number; id: string; from: string[] }[]
  number: number
  /** Cursors from before this change have expired. */
  expiredBelow: number
  /** Ids of messages that are never returned, and paths of folders whose every read fails. */
  unreadable?: string[]
  broken?: string[]
  /** Ids of messages whose changes are reported as removals, as Graph does with a message that left a folder and returned. */
  removedOnly?: string[]
}

export interface DoubleStore {
  read(): DoubleState
  write(state: DoubleState): void
}

type DoubleRequest = ScopeSyncRequest & { access: MailAccess }

/** The content of a cursor: the provider is listing messages, comparing them, or following changes. */
interface Position {
  mode: 'list' | 'compare' | 'follow'
  /** The last change that was returned; following starts behind it. */
  number: number
  /** Messages that arrive after this change are new. */
  baseline: number
  listed: number
  after?: { receivedAt: number; id: string }
}

/**
 * A provider that assigns message ids, in memory or in a file. It implements the complete contract and runs scripted
 * changes. `whole`: one scope and many labels, as Gmail; `folders`: a scope per folder, as Graph. Its methods change the
 * mailbox as its owner would.
 */
export class MailboxDouble {
  readonly kind: 'whole' | 'folders'
  readonly #store: DoubleStore
  /** Messages per step. */
  pageSize = 3
  pollMs = 60_000
  /** Every request made, in order. */
  readonly calls: string[] = []
  /** How often `endPause` was called. */
  endedPauses = 0
  /** Thrown by the next requests, one each. */
  readonly failures: ProviderError[] = []
  /** Each is thrown by the next request that matches `on`, as `calls` names it. Others, such as those of sync, do not take it. */
  readonly matchingFailures: { on: RegExp; error: ProviderError }[] = []
  /** The access token that requests must carry, if any. */
  token: string | undefined
  /** Waits a `retryAfterMs` of zero out, as real providers do with a short one, instead of throwing. */
  waitsItself = false
  /** Whether the provider says where an unreadable message is, and when it was received. */
  knowsUnreadable = true
  /** Changes to the mailbox, one before each request. */
  readonly script: (() => void)[] = []

  constructor(kind: 'whole' | 'folders', store: DoubleStore = memoryStore()) {
    this.kind = kind
    this.#store = store
  }

  get state(): DoubleState {
    return this.#store.read()
  }

  deliver(id: string, changes: Partial<DoubleMessage> = {}): void {
    this.#change((state) => {
      const message = {
        id,
        folders: ['INBOX'],
        unread: true,
        starred: false,
        receivedAt: Date.now(),
        subject: id,
        text: id,
      }
      state.messages[id] = { ...message, ...changes, arrived: state.number + 1 }
      return [{ id, from: [] }]
    })
  }

  deliverAll(ids: readonly string[], describe: (place: number) => Partial<DoubleMessage> = () => ({})): void {
    for (const [place, id] of ids.entries()) this.deliver(id, describe(place))
  }

  /** Changes flags, folders or content; ignores a deleted message. */
  set(id: string, changes: Partial<DoubleMessage>): void {
    this.#change((state) => {
      const message = state.messages[id]
      if (message === undefined) return []
      state.messages[id] = { ...message, ...changes }
      return [{ id, from: message.folders }]
    })
  }

  remove(id: string): void {
    this.#change((state) => {
      const message = state.messages[id]
      if (message === undefined) return []
      delete state.messages[id]
      return [{ id, from: message.folders }]
    })
  }

  addFolder(path: string, role: FolderRole | null = null, name = path): void {
    this.setFolders((folders) => [...folders, buildFolder(path, role, name)])
  }

  setFolders(change: (folders: RemoteFolder[]) => RemoteFolder[]): void {
    this.#change((state) => {
      state.folders = change(state.folders)
      return []
    })
  }

  renameFolder(path: string, name: string): void {
    this.setFolders((folders) => folders.map((folder) => (folder.path === path ? { ...folder, name } : folder)))
  }

  /** Removes the label from its messages. Messages in no other folder move to `moveTo`, or are deleted with the folder. */
  dropFolder(path: string, moveTo?: string): void {
    this.#change((state) => {
      state.folders = state.folders.filter((folder) => folder.path !== path)
      const touched = Object.values(state.messages).filter((message) => message.folders.includes(path))
      for (const message of touched) {
        const rest = message.folders.filter((folder) => folder !== path)
        const folders = moveTo === undefined ? rest : [...rest, moveTo]
        if (this.kind === 'folders' && folders.length === 0) delete state.messages[message.id]
        else state.messages[message.id] = { ...message, folders }
      }
      // Gmail reports no message changes when a label is deleted.
      return this.kind === 'whole' ? [] : touched.map(({ id, folders }) => ({ id, from: folders }))
    })
  }

  /** From now on, the messages fail whenever they are read, or can be read again. */
  setUnreadable(...ids: string[]): void {
    this.#change((state) => {
      state.unreadable = ids
      return []
    })
  }

  /** From now on, changes of the messages are reported as removals, although the messages exist. */
  setRemovedOnly(...ids: string[]): void {
    this.#change((state) => {
      state.removedOnly = ids
      return []
    })
  }

  /** From now on, the folders fail whenever they are read, or can be read again. */
  setBroken(...paths: string[]): void {
    this.#change((state) => {
      state.broken = paths
      return []
    })
  }

  /** Expires every cursor issued so far. */
  expireCursors(): void {
    this.#change((state) => {
      state.number += 1
      state.expiredBelow = state.number
      return []
    })
  }

  /** Every method throws `ProviderError`: the next failure, or `auth_expired` without the right token. */
  get mail(): IdMailProvider {
    const find = (id: string): DoubleMessage => {
      const message = this.state.messages[id]
      if (message === undefined) throw new ProviderError('not_found', 'there is no such message')
      return message
    }
    const raw = (message: DoubleMessage) => `Subject: ${message.subject}\r\n\r\n${message.text}`
    return {
      kind: 'mailbox',
      verify: async (access) => ({ folders: await this.#listFolders(access) }),
      closeConnections: async () => {},
      endPause: () => {
        this.endedPauses += 1
      },
      openSession: (access) => this.#session(access),
      edits: (access) => ({
        ...doubleFolderEdits(this, (what) => this.#request(access, what)),
        changeMessages: (changes) =>
          this.#each(access, changes, ({ message: { providerMessageId: id }, add = [], remove = [], ...flags }) => {
            const { folders } = find(id)
            const labels = [...folders.filter((folder) => !remove.includes(folder) && !add.includes(folder)), ...add]
            const target = this.kind === 'whole' ? labels : add.length > 0 ? [...add] : folders
            const { unread, starred } = flags
            this.set(id, {
              folders: target,
              ...(unread !== undefined && { unread }),
              ...(starred !== undefined && { starred }),
            })
            const now = find(id)
            return { unread: now.unread, starred: now.starred, folders: now.folders }
          }),
        deleteMessages: (messages) =>
          this.#each(access, messages, ({ providerMessageId }) => {
            this.remove(providerMessageId)
            return 'deleted' as const
          }),
      }),
      backfill: (access) => ({
        count: async ({ scope, sinceMs, beforeMs }) => {
          await this.#request(access, `count ${scope}`)
          const inside = this.#within(this.state, scope)
          return inside.filter(({ receivedAt }) => receivedAt >= sinceMs && receivedAt < beforeMs).length
        },
        read: async (request) => {
          await this.#request(access, `backfill ${request.scope}`)
          return backfillDouble(this.#within(this.state, request.scope), request)
        },
      }),
      drafts: (access) => doubleDrafts(this, (what) => this.#request(access, what)),
      liveReads: (access) => ({
        listFolders: () => this.#listFolders(access),
        search: async (request) => {
          await this.#request(access, 'search')
          return searchDouble(this.#within(this.state, request.folder ?? ENTIRE_MAILBOX), request)
        },
        getBody: async ({ providerMessageId }) => {
          await this.#request(access, `body ${providerMessageId}`)
          const { text, html = null, subject } = find(providerMessageId)
          return { text, html, headers: [{ name: 'Subject', value: subject }] }
        },
        openRaw: async ({ providerMessageId }) => {
          await this.#request(access, `raw ${providerMessageId}`)
          return toContent(Buffer.from(raw(find(providerMessageId))))
        },
        openAttachment: async ({ providerMessageId }, attachmentId) => {
          await this.#request(access, `attachment ${providerMessageId} ${attachmentId}`)
          const { parsed, files } = find(providerMessageId)
          const attachment = parsed?.attachments?.find(({ id }) => id === attachmentId)
          const content = files?.[attachmentId]
          if (attachment === undefined || content === undefined) {
            throw new ProviderError('not_found', 'there is no such attachment')
          }
          const { contentType, filename } = attachment
          return { contentType, filename, ...toContent(Buffer.from(content, 'base64')) }
        },
      }),
    }
  }

  /** One request for all items; each has its own result. */
  async #each<Item, Result>(
    access: MailAccess,
    items: readonly Item[],
    change: (item: Item) => Result,
  ): Promise<(Result | ProviderError)[]> {
    try {
      await this.#request(access, 'change')
    } catch (error) {
      if (error instanceof ProviderError) return items.map(() => error)
      throw error
    }
    return items.map((item) => {
      try {
        return change(item)
      } catch (error) {
        if (error instanceof ProviderError) return error
        throw error
      }
    })
  }

  #session(access: MailAccess): MailboxSession {
    return {
      pollIntervalMs: this.pollMs,
      listFolders: () => this.#listFolders(access),
      scopes: (folders) => (this.kind === 'whole' ? [ENTIRE_MAILBOX] : folders.map((folder) => folder.path)),
      syncScope: (request) => this.#sync({ ...request, access }),
      readMessages: async (ids) => {
        await this.#request(access, 'read')
        const messages = ids.flatMap((id) => this.state.messages[id] ?? [])
        return { found: messages.map((message) => foundMessage(message, this.state.number)), unknown: [] }
      },
      readAgain: async (request) => {
        await this.#request(access, `again ${request.ids.join(' ')}`)
        return readAgainDouble(this.state, request, this.knowsUnreadable)
      },
      close: async () => {},
    }
  }

  async #listFolders(access: MailAccess): Promise<RemoteFolder[]> {
    await this.#request(access, 'folders')
    return this.state.folders
  }

  async *#sync(request: DoubleRequest): AsyncGenerator<MailboxStep> {
    const { number } = this.state
    const begun: Position = { mode: request.comparison ? 'compare' : 'list', number, baseline: number, listed: 0 }
    let position = request.cursor === null ? begun : parsePosition(request.cursor)
    if (position.mode === 'compare') position = yield* this.#compare(request, position)
    while (position.mode === 'list') position = yield* this.#list(request, position)
    for (;;) {
      const next: Position | undefined = yield* this.#follow(request, position)
      if (next === undefined) return
      position = next
    }
  }

  async *#list({ scope, access, initialMessages, signal }: DoubleRequest, position: Position) {
    const { after, listed } = position
    const state = await this.#read(access, `list ${scope}`, scope, signal)
    const limit = Math.min(this.pageSize, initialMessages - listed)
    const messages = this.#within(state, scope).filter((message) => after === undefined || isBehind(message, after))
    const page = messages.slice(0, limit)
    const last = page.at(-1)
    const more = last !== undefined && messages.length > page.length && listed + page.length < initialMessages
    const next: Position = more
      ? { ...position, listed: listed + page.length, after: { receivedAt: last.receivedAt, id: last.id } }
      : { ...position, mode: 'follow' }
    const storedSince = messages.length > page.length ? (last?.receivedAt ?? 0) : 0
    const step = { found: page.map((message) => found(message, position)), ...(!more && { storedSince }) }
    yield this.#step(step, next)
    return next
  }

  async *#compare({ scope, access, comparison, oldest: oldestStored, signal }: DoubleRequest, position: Position) {
    if (comparison === undefined) throw new Error('a comparison continues without its `comparison`')
    const listed = new Map<string, KnownMailboxMessage>()
    for (let page = await comparison.listStored(); page.length > 0; page = await comparison.listStored(page.at(-1))) {
      for (const message of page) {
        if (listed.has(message.providerMessageId)) throw new Error('a page of known messages repeats one')
        listed.set(message.providerMessageId, message)
      }
    }
    const oldest = (await oldestStored()) ?? Number.POSITIVE_INFINITY
    const messages = this.#within(await this.#read(access, `compare ${scope}`, scope, signal), scope)
    const present = new Set(messages.map((message) => message.id))
    const different = messages.filter((message) => {
      const stored = listed.get(message.id)
      return stored === undefined ? message.receivedAt >= oldest : differs(message, stored)
    })
    const removed = [...listed.keys()].filter((id) => !present.has(id))
    for (let start = 0; start < different.length; start += this.pageSize) {
      const page = different.slice(start, start + this.pageSize)
      await this.#request(access, `compare more ${scope}`)
      yield { ...this.#step({ found: page.map((message) => found(message, position)) }, position), refetched: true }
    }
    const next: Position = { ...position, mode: 'follow' }
    yield { ...this.#step({ removed }, next), refetched: true }
    return next
  }

  async *#follow({ scope, access, signal }: DoubleRequest, position: Position) {
    const state = await this.#read(access, `follow ${scope}`, scope, signal)
    if (position.number < state.expiredBelow) throw new ProviderError('cursor_expired', 'the cursor is too old')
    const entries = state.log.filter((entry) => entry.number > position.number).slice(0, this.pageSize)
    const last = entries.at(-1)
    if (last === undefined) return undefined
    const next: Position = { ...position, number: last.number }
    const step = { found: [] as FoundMessage[], changed: [] as MailboxStep['changed'], removed: [] as string[] }
    for (const id of new Set(entries.map((entry) => entry.id))) {
      const message = state.messages[id]
      const arrived = entries.some(
        (entry) => entry.id === id && (entry.number === message?.arrived || !this.#isIn(entry.from, scope)),
      )
      const isDraft = message?.folders.includes('DRAFT')
      const isRemoved = message === undefined || state.removedOnly?.includes(id)
      if (isRemoved || !this.#isIn(message.folders, scope)) step.removed.push(id)
      else if (arrived || isDraft) step.found.push(found(message, position))
      else {
        const { unread, starred, folders } = message
        step.changed.push({ providerMessageId: id, unread, starred, ...(this.kind === 'whole' && { folders }) })
      }
    }
    yield this.#step(step, next)
    return next
  }

  #step(parts: Partial<MailboxStep>, next: Position): MailboxStep {
    const read = readable(this.state, parts.found ?? [], this.knowsUnreadable)
    return { refetched: false, changed: [], removed: [], cursor: JSON.stringify(next), ...parts, ...read }
  }

  /** Newest first. */
  #within(state: DoubleState, scope: string): DoubleMessage[] {
    return Object.values(state.messages)
      .filter((message) => this.#isIn(message.folders, scope))
      .sort((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1))
  }

  /** In the scope of the entire mailbox, a message needs no label. */
  #isIn(folders: readonly string[], scope: string): boolean {
    return scope === ENTIRE_MAILBOX || folders.includes(scope)
  }

  async #read(access: MailAccess, what: string, scope: string, signal: AbortSignal): Promise<DoubleState> {
    signal.throwIfAborted()
    await this.#request(access, what)
    const { state } = this
    if (scope !== ENTIRE_MAILBOX && !state.folders.some((folder) => folder.path === scope)) {
      throw new ProviderError('not_found', `there is no folder "${scope}"`)
    }
    if (state.broken?.includes(scope)) throw new ProviderError('unavailable', 'the provider failed (500)')
    return state
  }

  async #request(access: MailAccess, what: string): Promise<void> {
    this.calls.push(what)
    this.script.shift()?.()
    const own = this.matchingFailures.findIndex(({ on }) => on.test(what))
    if (own >= 0) throw this.matchingFailures.splice(own, 1)[0]?.error
    const failure = this.failures.shift()
    if (failure !== undefined && !(this.waitsItself && failure.retryAfterMs === 0)) throw failure
    if (this.token === undefined) return
    const token = await access.accessToken?.()
    if (token !== this.token && (await access.accessToken?.(token)) !== this.token) {
      throw new ProviderError('auth_expired', 'the token is refused')
    }
  }

  #change(work: (state: DoubleState) => { id: string; from: string[] }[]): void {
    const state = structuredClone(this.state)
    for (const { id, from } of work(state)) {
      state.number += 1
      state.log.push({ number: state.number, id, from })
    }
    this.#store.write(state)
  }
}

function found(message: DoubleMessage, { baseline }: Position): FoundMessage {
  return foundMessage(message, baseline)
}

function differs(message: DoubleMessage, stored: KnownMailboxMessage): boolean {
  const [now, before] = [message.folders, stored.folders].map((folders) => folders.toSorted().join('\n'))
  return message.unread !== stored.unread || message.starred !== stored.starred || now !== before
}

function isBehind(message: DoubleMessage, after: { receivedAt: number; id: string }): boolean {
  return message.receivedAt < after.receivedAt || (message.receivedAt === after.receivedAt && message.id < after.id)
}

function parsePosition(cursor: string): Position {
  try {
    return JSON.parse(cursor)
  } catch {
    throw new ProviderError('cursor_expired', 'the cursor cannot be read')
  }
}
