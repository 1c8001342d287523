import type {
  FoundMessage,
  KnownMailboxMessage,
  MailboxSession,
  MailboxStep,
} from '../../../src/providers/contract/index.ts'
import { ProviderError } from '../../../src/providers/contract/index.ts'

/** A message in the mirror. */
export type MirrorRow = FoundMessage & { announced: boolean }

/**
 * The smallest consumer of `syncScope`, for provider tests: stores every step and nothing else.
 */
export class MailboxMirror {
  readonly rows = new Map<string, MirrorRow>()
  readonly cursors = new Map<string, string>()
  /** Every step since the mirror was made. */
  readonly steps: MailboxStep[] = []
  readonly #initialMessages: number
  readonly #comparing = new Set<string>()

  constructor(initialMessages = 500) {
    this.#initialMessages = initialMessages
  }

  /** Syncs every scope once. `onStep` runs after a step is stored, before the next is requested. */
  async sync(
    session: MailboxSession,
    onStep: (step: MailboxStep) => Promise<void> | void = () => {},
  ): Promise<MailboxStep[]> {
    const from = this.steps.length
    const { signal } = new AbortController()
    const scopes = session.scopes(await session.listFolders())
    for (const scope of [...this.cursors.keys()].filter((scope) => !scopes.includes(scope))) this.#forget(scope)
    const asked = scopes.map((scope) => ({ scope, cursor: this.cursors.get(scope) ?? null }))
    for (const scope of (await session.changedScopes?.(asked, signal)) ?? scopes) {
      try {
        await this.#syncScope(session, scope, onStep)
      } catch (error) {
        if (!(error instanceof ProviderError && error.kind === 'cursor_expired')) throw error
        this.cursors.delete(scope)
        if (this.#known(scope).length > 0) this.#comparing.add(scope)
        await this.#syncScope(session, scope, onStep)
      }
    }
    return this.steps.slice(from)
  }

  subjects(): string[] {
    return this.#byAge().map(({ message }) => message.subject)
  }

  bySubject(subject: string): MirrorRow {
    const found = [...this.rows.values()].find(({ message }) => message.subject === subject)
    if (found === undefined) throw new Error(`no message "${subject}" among ${this.subjects().join(', ')}`)
    return found
  }

  async #syncScope(
    session: MailboxSession,
    scope: string,
    onStep: (step: MailboxStep) => Promise<void> | void,
  ): Promise<void> {
    const request = {
      scope,
      cursor: this.cursors.get(scope) ?? null,
      initialMessages: this.#initialMessages,
      oldest: async () => this.#byAge()[0]?.message.receivedAt ?? null,
      control: async () => this.#byAge().at(-1)?.message.providerMessageId ?? null,
      ...(this.#comparing.has(scope) && {
        comparison: { listStored: async (after?: KnownMailboxMessage) => this.#page(scope, after) },
      }),
      signal: new AbortController().signal,
    }
    for await (const step of session.syncScope(request)) {
      this.#store(scope, step)
      await onStep(step)
    }
    this.#comparing.delete(scope)
  }

  #page(scope: string, after: KnownMailboxMessage | undefined): KnownMailboxMessage[] {
    const all = this.#known(scope)
    const isBehind = (mail: KnownMailboxMessage, other: KnownMailboxMessage) =>
      mail.receivedAt < other.receivedAt ||
      (mail.receivedAt === other.receivedAt && mail.providerMessageId < other.providerMessageId)
    return (after === undefined ? all : all.filter((mail) => isBehind(mail, after))).slice(0, 500)
  }

  #known(scope: string): KnownMailboxMessage[] {
    return this.#byAge()
      .reverse()
      .filter(({ folders }) => scope === '*' || folders.includes(scope))
      .map(({ message: { providerMessageId, receivedAt, unread, starred }, folders }) => {
        return { providerMessageId, receivedAt, unread, starred, folders }
      })
  }

  #byAge(): MirrorRow[] {
    return [...this.rows.values()].sort(
      ({ message: one }, { message: other }) =>
        one.receivedAt - other.receivedAt || (one.providerMessageId < other.providerMessageId ? -1 : 1),
    )
  }

  #store(scope: string, step: MailboxStep): void {
    for (const { message, folders } of step.found) {
      const stored = this.rows.get(message.providerMessageId)
      const announced = stored?.announced ?? (message.isNew && !step.refetched)
      this.rows.set(message.providerMessageId, { message, folders, announced })
    }
    for (const { providerMessageId, folders, ...flags } of step.changed) {
      const row = this.rows.get(providerMessageId)
      if (row === undefined) continue
      const message = { ...row.message, ...flags }
      this.rows.set(providerMessageId, { ...row, message, folders: folders ?? row.folders })
    }
    for (const id of step.removed) {
      if (scope === '*' || this.rows.get(id)?.folders.includes(scope)) this.rows.delete(id)
    }
    this.cursors.set(scope, step.cursor)
    this.steps.push(step)
  }

  #forget(scope: string): void {
    this.cursors.delete(scope)
    for (const [id, { folders }] of this.rows) if (folders.includes(scope)) this.rows.delete(id)
  }
}
