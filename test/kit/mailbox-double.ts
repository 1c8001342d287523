import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import {
  ENTIRE_MAILBOX,
  type FolderRole,
  type FoundMessage,
  type IdMailProvider,
  type KnownMailboxMessage,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
  type RemoteFolder,
  type ScopeSyncRequest,
} from '../../src/providers/contract/index.ts'

/** A mail at the provider. */
export interface DoubleMail {
  id: string
  folders: string[]
  unread: boolean
  starred: boolean
  receivedAt: number
  subject: string
  text: string
  /** Number of the change by which it came. */
  arrived: number
}

/** All that the provider knows, as JSON, so that several processes can share it in a file. */
export interface DoubleState {
  folders: RemoteFolder[]
  mails: Record<string, DoubleMail>
  /** Every change in order: which mail, and where it stood before. */
  log: { number: number; id: string; from: string[] }[]
  number: number
  /** Cursors from before this change are too old. */
  expiredBelow: number
}

export interface DoubleStore {
  read(): DoubleState
  write(state: DoubleState): void
}

/** Where a cursor stands: listing what is there, comparing, or following the changes. */
interface Position {
  mode: 'list' | 'compare' | 'follow'
  /** The change up to which everything is told once the listing is through. */
  number: number
  /** The change after which mail is new. */
  baseline: number
  listed: number
  after?: { receivedAt: number; id: string }
}

const ROLES: [path: string, role: FolderRole | null][] = [
  ['INBOX', 'inbox'],
  ['SENT', 'sent'],
  ['DRAFT', 'drafts'],
  ['TRASH', 'trash'],
  ['SPAM', 'junk'],
  ['Work', null],
  ['More', null],
]

/**
 * A provider whose mails have ids of their own, kept in memory or in a file: the whole contract, exact and scriptable. `whole`: one
 * scope and many labels, as Gmail; `folders`: a scope per folder, as Graph. Methods are what the owner of the mailbox does.
 */
export class MailboxDouble {
  readonly kind: 'whole' | 'folders'
  readonly #store: DoubleStore
  /** Messages per step. */
  pageSize = 3
  pollMs = 60_000
  /** Every request made, in order. */
  readonly calls: string[] = []
  /** Thrown by the next requests, one each. */
  readonly failures: ProviderError[] = []
  /** What the owner does between requests: one piece before each. */
  readonly script: (() => void)[] = []

  constructor(kind: 'whole' | 'folders', store: DoubleStore = memoryStore()) {
    this.kind = kind
    this.#store = store
  }

  get state(): DoubleState {
    return this.#store.read()
  }

  deliver(id: string, given: Partial<DoubleMail> = {}): void {
    this.#change((state) => {
      const mail = {
        id,
        folders: ['INBOX'],
        unread: true,
        starred: false,
        receivedAt: Date.now(),
        subject: id,
        text: id,
      }
      state.mails[id] = { ...mail, ...given, arrived: state.number + 1 }
      return [{ id, from: [] }]
    })
  }

  deliverAll(ids: readonly string[], given: (place: number) => Partial<DoubleMail> = () => ({})): void {
    for (const [place, id] of ids.entries()) this.deliver(id, given(place))
  }

  /** Flags, folders or content; of a mail that is gone, nothing. */
  set(id: string, changes: Partial<DoubleMail>): void {
    this.#change((state) => {
      const mail = state.mails[id]
      if (mail === undefined) return []
      state.mails[id] = { ...mail, ...changes }
      return [{ id, from: mail.folders }]
    })
  }

  remove(id: string): void {
    this.#change((state) => {
      const mail = state.mails[id]
      if (mail === undefined) return []
      delete state.mails[id]
      return [{ id, from: mail.folders }]
    })
  }

  addFolder(path: string, role: FolderRole | null = null, name = path): void {
    this.#change((state) => {
      state.folders.push(folderOf(path, role, name))
      return []
    })
  }

  renameFolder(path: string, name: string): void {
    this.#change((state) => {
      state.folders = state.folders.map((folder) => (folder.path === path ? { ...folder, name } : folder))
      return []
    })
  }

  /** Mails lose the label; those of a folder that is their only one go to `mailsTo`, or with it. */
  dropFolder(path: string, mailsTo?: string): void {
    this.#change((state) => {
      state.folders = state.folders.filter((folder) => folder.path !== path)
      const touched = Object.values(state.mails).filter((mail) => mail.folders.includes(path))
      for (const mail of touched) {
        const rest = mail.folders.filter((folder) => folder !== path)
        const folders = mailsTo === undefined ? rest : [...rest, mailsTo]
        if (this.kind === 'folders' && folders.length === 0) delete state.mails[mail.id]
        else state.mails[mail.id] = { ...mail, folders }
      }
      // As Gmail: a label that goes is no change of its mails.
      return this.kind === 'whole' ? [] : touched.map(({ id, folders }) => ({ id, from: folders }))
    })
  }

  /** Every cursor given so far is too old. */
  expireCursors(): void {
    this.#change((state) => {
      state.number += 1
      state.expiredBelow = state.number
      return []
    })
  }

  get mail(): IdMailProvider {
    const find = (id: string): DoubleMail => {
      const mail = this.state.mails[id]
      if (mail === undefined) throw new ProviderError('not_found', 'there is no such mail')
      return mail
    }
    const raw = (mail: DoubleMail) => `Subject: ${mail.subject}\r\n\r\n${mail.text}`
    return {
      kind: 'mailbox',
      verify: async () => ({ folders: this.state.folders }),
      closeConnections: async () => {},
      openSession: () => this.#session(),
      liveReads: () => ({
        listFolders: () => this.#listFolders(),
        getBody: async ({ providerMessageId }) => {
          this.#request(`body ${providerMessageId}`)
          const { text, subject } = find(providerMessageId)
          return { text, html: null, headers: [{ name: 'Subject', value: subject }] }
        },
        openRaw: async ({ providerMessageId }) => {
          this.#request(`raw ${providerMessageId}`)
          const text = raw(find(providerMessageId))
          return { sizeBytes: text.length, stream: Readable.from([text]) }
        },
        openAttachment: async ({ providerMessageId }, attachmentId) => {
          this.#request(`attachment ${providerMessageId} ${attachmentId}`)
          const { text } = find(providerMessageId)
          return { contentType: 'text/plain', filename: 'note.txt', stream: Readable.from([text]) }
        },
      }),
    }
  }

  #session(): MailboxSession {
    return {
      pollIntervalMs: this.pollMs,
      listFolders: () => this.#listFolders(),
      scopes: (folders) => (this.kind === 'whole' ? [ENTIRE_MAILBOX] : folders.map((folder) => folder.path)),
      syncScope: (request) => this.#sync(request),
      close: async () => {},
    }
  }

  async #listFolders(): Promise<RemoteFolder[]> {
    this.#request('folders')
    return this.state.folders
  }

  async *#sync(request: ScopeSyncRequest): AsyncGenerator<MailboxStep> {
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

  async *#list({ scope, initialMessages, signal }: ScopeSyncRequest, position: Position) {
    const { after, listed } = position
    const state = this.#look(`list ${scope}`, scope, signal)
    const limit = Math.min(this.pageSize, initialMessages - listed)
    const mails = this.#within(state, scope).filter((mail) => after === undefined || isBehind(mail, after))
    const page = mails.slice(0, limit)
    const last = page.at(-1)
    const more = last !== undefined && mails.length > page.length && listed + page.length < initialMessages
    const next: Position = more
      ? { ...position, listed: listed + page.length, after: { receivedAt: last.receivedAt, id: last.id } }
      : { ...position, mode: 'follow' }
    yield this.#step({ found: page.map((mail) => found(mail, position)) }, next)
    return next
  }

  async *#compare({ scope, comparison, oldest: oldestStored, signal }: ScopeSyncRequest, position: Position) {
    if (comparison === undefined) throw new Error('a comparison goes on without what it compares')
    const known = new Map<string, KnownMailboxMessage>()
    for (let page = await comparison.known(); page.length > 0; page = await comparison.known(page.at(-1))) {
      for (const mail of page) {
        if (known.has(mail.providerMessageId)) throw new Error('a page of known mails repeats one')
        known.set(mail.providerMessageId, mail)
      }
    }
    const oldest = (await oldestStored()) ?? Number.POSITIVE_INFINITY
    const mails = this.#within(this.#look(`compare ${scope}`, scope, signal), scope)
    const there = new Set(mails.map((mail) => mail.id))
    const different = mails.filter((mail) => {
      const stored = known.get(mail.id)
      return stored === undefined ? mail.receivedAt >= oldest : differs(mail, stored)
    })
    const removed = [...known.keys()].filter((id) => !there.has(id))
    for (let start = 0; start < different.length; start += this.pageSize) {
      const page = different.slice(start, start + this.pageSize)
      this.#request(`compare more ${scope}`)
      yield { ...this.#step({ found: page.map((mail) => found(mail, position)) }, position), refetched: true }
    }
    const next: Position = { ...position, mode: 'follow' }
    yield { ...this.#step({ removed }, next), refetched: true }
    return next
  }

  async *#follow({ scope, signal }: ScopeSyncRequest, position: Position) {
    const state = this.#look(`follow ${scope}`, scope, signal)
    if (position.number < state.expiredBelow) throw new ProviderError('cursor_expired', 'the cursor is too old')
    const entries = state.log.filter((entry) => entry.number > position.number).slice(0, this.pageSize)
    const last = entries.at(-1)
    if (last === undefined) return undefined
    const next: Position = { ...position, number: last.number }
    const step = { found: [] as FoundMessage[], changed: [] as MailboxStep['changed'], removed: [] as string[] }
    for (const id of new Set(entries.map((entry) => entry.id))) {
      const mail = state.mails[id]
      const came = entries.some(
        (entry) => entry.id === id && (entry.number === mail?.arrived || !this.#isIn(entry.from, scope)),
      )
      const isDraft = mail?.folders.includes('DRAFT')
      if (mail === undefined || !this.#isIn(mail.folders, scope)) step.removed.push(id)
      else if (came || isDraft) step.found.push(found(mail, position))
      else {
        const { unread, starred, folders } = mail
        step.changed.push({ providerMessageId: id, unread, starred, ...(this.kind === 'whole' && { folders }) })
      }
    }
    yield this.#step(step, next)
    return next
  }

  #step(parts: Partial<MailboxStep>, next: Position): MailboxStep {
    return { refetched: false, found: [], changed: [], removed: [], cursor: JSON.stringify(next), ...parts }
  }

  /** Newest first. */
  #within(state: DoubleState, scope: string): DoubleMail[] {
    return Object.values(state.mails)
      .filter((mail) => this.#isIn(mail.folders, scope))
      .sort((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1))
  }

  /** A mail of the whole mailbox may have no label; one that came from nowhere had nothing. */
  #isIn(folders: readonly string[], scope: string): boolean {
    return scope === ENTIRE_MAILBOX || folders.includes(scope)
  }

  #look(what: string, scope: string, signal: AbortSignal): DoubleState {
    signal.throwIfAborted()
    this.#request(what)
    const { state } = this
    if (scope !== ENTIRE_MAILBOX && !state.folders.some((folder) => folder.path === scope)) {
      throw new ProviderError('not_found', `there is no folder "${scope}"`)
    }
    return state
  }

  #request(what: string): void {
    this.calls.push(what)
    this.script.shift()?.()
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
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

function found(mail: DoubleMail, { baseline }: Position): FoundMessage {
  return {
    folders: mail.folders,
    message: {
      providerMessageId: mail.id,
      isNew: mail.arrived > baseline,
      emailId: null,
      threadId: `thread of ${mail.id}`,
      messageId: `<${mail.id}@x>`,
      ...{
        inReplyTo: null,
        references: [],
        from: null,
        to: [],
        cc: [],
        bcc: [],
        replyTo: [],
        date: null,
        sizeBytes: 1,
      },
      ...{ attachments: [], headerHash: mail.id, error: null, text: mail.text, snippet: mail.text },
      subject: mail.subject,
      receivedAt: mail.receivedAt,
      unread: mail.unread,
      starred: mail.starred,
    },
  }
}

function differs(mail: DoubleMail, stored: KnownMailboxMessage): boolean {
  const [now, before] = [mail.folders, stored.folders].map((folders) => folders.toSorted().join('\n'))
  return mail.unread !== stored.unread || mail.starred !== stored.starred || now !== before
}

function isBehind(mail: DoubleMail, after: { receivedAt: number; id: string }): boolean {
  return mail.receivedAt < after.receivedAt || (mail.receivedAt === after.receivedAt && mail.id < after.id)
}

function parsePosition(cursor: string): Position {
  return JSON.parse(cursor)
}

function folderOf(path: string, role: FolderRole | null, name = path): RemoteFolder {
  return { path, name, role, delimiter: null, selectable: true, mailboxId: null }
}

function emptyState(): DoubleState {
  const folders = ROLES.map(([path, role]) => folderOf(path, role))
  return { folders, mails: {}, log: [], number: 0, expiredBelow: 0 }
}

function memoryStore(): DoubleStore {
  let state = emptyState()
  return {
    read: () => state,
    write: (changed) => {
      state = changed
    },
  }
}

/** Shared with other processes: one writes, any number read. */
export function fileStore(file: string, isNew: boolean): DoubleStore {
  const write = (state: DoubleState) => {
    writeFileSync(`${file}.new`, JSON.stringify(state))
    renameSync(`${file}.new`, file)
  }
  if (isNew) write(emptyState())
  return { read: () => JSON.parse(readFileSync(file, 'utf8')), write }
}
