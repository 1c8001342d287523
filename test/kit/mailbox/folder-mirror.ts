import type {
  FolderSession,
  FolderStep,
  KnownFolderMessage,
  RemoteMessage,
  SuspectMessage,
} from '../../../src/providers/contract/index.ts'

/** The smallest consumer of `syncFolder`, for provider tests: stores every step and nothing else. */
export class FolderMirror {
  readonly path: string
  cursor: string | null = null
  readonly rows = new Map<number, RemoteMessage>()
  /** Every step since the mirror was made. */
  readonly steps: FolderStep[] = []
  readonly #initialMessages: number
  /** How many syncs in a row have failed. */
  #losses = 0
  /** The messages with which the connection ended, and the one that may be next. */
  readonly #failing: SuspectMessage[] = []
  #suspect: SuspectMessage | undefined

  constructor(path: string, initialMessages = 500) {
    this.path = path
    this.#initialMessages = initialMessages
  }

  /** Syncs the folder once. `onStep` runs after a step is stored, before the next is requested. */
  async sync(
    session: FolderSession,
    onStep: (step: FolderStep) => Promise<void> | void = () => {},
  ): Promise<FolderStep[]> {
    const steps: FolderStep[] = []
    const request = {
      path: this.path,
      cursor: this.cursor,
      initialMessages: this.#initialMessages,
      listStored: async (low: number, high: number) => this.#known().filter(({ uid }) => uid >= low && uid <= high),
      newest: async () =>
        [...this.rows].map(([uid, { messageId, receivedAt }]) => ({ uid, identity: { messageId, receivedAt } })),
      knownCount: async () => this.rows.size,
      losses: this.#losses,
      failing: this.#failing,
      control: async () => [...this.rows.values()].find(({ error }) => error === null)?.location?.uid ?? null,
      suspect: async (message: SuspectMessage) => {
        this.#suspect = message
      },
      signal: new AbortController().signal,
    }
    try {
      for await (const step of session.syncFolder(request)) {
        this.#store(step)
        steps.push(step)
        await onStep(step)
      }
      this.#losses = 0
    } catch (error) {
      this.#losses = this.#suspect === undefined ? this.#losses + 1 : 0
      if (this.#suspect !== undefined) this.#failing.push(this.#suspect)
      throw error
    } finally {
      this.#suspect = undefined
    }
    return steps
  }

  subjects(): string[] {
    return [...this.rows].sort(([left], [right]) => left - right).map(([, message]) => message.subject)
  }

  bySubject(subject: string): RemoteMessage {
    const found = [...this.rows.values()].find((message) => message.subject === subject)
    if (found === undefined) throw new Error(`No message "${subject}" among ${this.subjects().join(', ')}`)
    return found
  }

  #known(): KnownFolderMessage[] {
    return [...this.rows].map(([uid, { unread, starred }]) => ({ uid, unread, starred }))
  }

  #store(step: FolderStep) {
    if (step.reset) this.rows.clear()
    for (const message of step.added) if (message.location !== undefined) this.rows.set(message.location.uid, message)
    for (const { uid, ...flags } of step.changed) {
      const row = this.rows.get(uid)
      if (row !== undefined) this.rows.set(uid, { ...row, ...flags })
    }
    for (const uid of step.removed) this.rows.delete(uid)
    this.cursor = step.cursor
    this.#suspect = undefined
    this.steps.push(step)
  }
}
