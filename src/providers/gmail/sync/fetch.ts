import type { Clock } from '../../../platform/time/clock.ts'
import {
  type Control,
  type FailedMessage,
  type FoundMessage,
  ProviderError,
  type ReadAgain,
  type ReadAgainRequest,
} from '../../contract/index.ts'
import { isFailure, isReading, mayBeOfMessage, object, text } from '../../shared/rest/index.ts'
import { type FetchResult, getMessages } from '../client.ts'
import { listDraftIds } from '../draft-ids.ts'
import { DRAFT } from '../folders.ts'
import { foundMessage, KNOWN_FIELDS, LABEL_FIELDS, LEAN_FIELDS, MESSAGE_FIELDS, readLabels } from '../map.ts'
import type { GmailMailbox } from '../quota.ts'
import { failedMessage } from './failed.ts'

type Found = FoundMessage & { historyId: bigint }

export interface Fetched {
  found: Found[]
  /** Deleted before they were fetched. */
  deleted: string[]
  failed: FailedMessage[]
}

interface FetchedLabels {
  /** Null for a deleted message. */
  labels: ReadonlyMap<string, string[] | null>
  failed: FailedMessage[]
}

interface FetchOptions {
  isNew: boolean
  control?: Control | undefined
}

/** The messages of one call that Gmail did not return. */
interface Failures {
  byId: Map<string, ProviderError>
  /** A request failed as a whole. Then the results of others do not show whose fault it is. */
  hasFailedRequest: boolean
}

/** Fetches messages of one mailbox. Those that fail while Gmail returns others are reported, and stop nothing. */
export class Fetcher {
  readonly #mailbox: GmailMailbox
  readonly #clock: Clock

  constructor(mailbox: GmailMailbox, clock: Clock) {
    this.#mailbox = mailbox
    this.#clock = clock
  }

  /**
   * Yields what each request returned, so that the caller can store it before the next request waits for the quota or fails. Not in the
   * order of `ids`: what Gmail refuses comes later, and the last yield has what failed. Throws when Gmail returns no message at all.
   */
  async *messages(
    ids: readonly string[],
    { isNew, control }: FetchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Fetched> {
    const failures = noFailures()
    yield* this.#contents(ids, { isNew, failures }, signal)
    await this.#ensureReading(failures, { count: ids.length, control, signal })
    if (failures.byId.size > 0) yield { found: [], deleted: [], failed: failedMessages(failures, isNew) }
  }

  /** The same at once, in the order of `ids`. */
  async allMessages(ids: readonly string[], options: FetchOptions, signal: AbortSignal): Promise<Fetched> {
    return collect(ids, this.messages(ids, options, signal))
  }

  /** Messages that failed before. What Gmail does not return entirely, it may return in short. */
  async again({ ids, control, signal }: ReadAgainRequest): Promise<ReadAgain> {
    const failures = noFailures()
    const { found, deleted } = await collect(ids, this.#contents(ids, { isNew: false, failures }, signal))
    throwIfOfAccount(failures)
    const short = await this.#short([...failures.byId.keys()], signal)
    return {
      found: found.map(({ message, folders }) => ({ message, folders })),
      removed: deleted,
      failed: failedMessages(failures, false, short),
      isReading: failures.byId.size < ids.length || (await this.#isReading(control, ids.length, signal)),
    }
  }

  /** Yields the labels of messages as each request returns them, and last the messages that failed. Throws as `messages` does. */
  async *labels(
    ids: readonly string[],
    control: Control | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<FetchedLabels> {
    const failures = noFailures()
    for await (const results of this.#results(ids, { fields: LABEL_FIELDS, failures, signal })) {
      const labels = [...results].map(([id, result]) => {
        const isDeleted = result instanceof ProviderError
        return [id, isDeleted ? null : readLabels(result)] as const
      })
      yield { labels: new Map(labels), failed: [] }
    }
    await this.#ensureReading(failures, { count: ids.length, control, signal })
    if (failures.byId.size > 0) yield { labels: new Map(), failed: failedMessages(failures, false) }
  }

  /** Messages as each request returns them. Adds those that fail to `failures`. */
  async *#contents(
    ids: readonly string[],
    { isNew, failures }: { isNew: boolean; failures: Failures },
    signal: AbortSignal,
  ): AsyncGenerator<Fetched> {
    const drafts = new DraftIds(this.#mailbox, signal)
    const tooLong: string[] = []
    for await (const results of this.#results(ids, { fields: MESSAGE_FIELDS, failures, signal })) {
      for (const [id, result] of results) {
        if (result !== 'too_long') continue
        tooLong.push(id)
        results.delete(id)
      }
      if (results.size > 0) yield await this.#fetched(results, isNew, drafts)
    }
    for await (const results of this.#results(tooLong, { fields: LEAN_FIELDS, failures, signal })) {
      yield await this.#fetched(results, isNew, drafts)
    }
  }

  async #short(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, FetchResult>> {
    const short = new Map<string, FetchResult>()
    for await (const results of this.#results(ids, { fields: KNOWN_FIELDS, failures: noFailures(), signal })) {
      for (const [id, result] of results) short.set(id, result)
    }
    return short
  }

  /** The results that are no failures. Adds the failures of messages to `failures`, and throws what concerns the account. */
  async *#results(
    ids: readonly string[],
    { fields, failures, signal }: { fields: string; failures: Failures; signal: AbortSignal },
  ): AsyncGenerator<Map<string, FetchResult>> {
    const left = new Set(ids)
    try {
      for await (const results of getMessages(this.#mailbox, ids, { fields, clock: this.#clock, signal })) {
        for (const [id, result] of results) {
          left.delete(id)
          if (!isFailure(result)) continue
          failures.byId.set(id, result)
          results.delete(id)
        }
        if (results.size > 0) yield results
      }
    } catch (error) {
      const mayBeOfMessages = error instanceof ProviderError && mayBeOfMessage(error) && !error.retryAfterMs
      if (!mayBeOfMessages) throw error
      failures.hasFailedRequest = true
      for (const id of left) failures.byId.set(id, error)
    }
  }

  /** Throws what concerns the account, and a failure of which Gmail is at fault rather than the messages. */
  async #ensureReading(
    failures: Failures,
    { count, control, signal }: { count: number; control: Control | undefined; signal: AbortSignal },
  ): Promise<void> {
    throwIfOfAccount(failures)
    const { byId, hasFailedRequest } = failures
    const [first] = byId.values()
    if (first === undefined || (byId.size < count && !hasFailedRequest)) return
    if (!(await this.#isReading(control, count, signal))) throw first
  }

  #isReading(control: Control | undefined, count: number, signal: AbortSignal): Promise<boolean> {
    return isReading(control, count, async (id) => {
      const failures = noFailures()
      for await (const _ of this.#results([id], { fields: MESSAGE_FIELDS, failures, signal }));
      return failures.byId.get(id)
    })
  }

  async #fetched(results: ReadonlyMap<string, FetchResult>, isNew: boolean, drafts: DraftIds): Promise<Fetched> {
    const fetched: Fetched = { found: [], deleted: [], failed: [] }
    for (const [id, result] of results) {
      if (result instanceof ProviderError) fetched.deleted.push(id)
      else {
        const body = typeof result === 'string' ? {} : result
        const found = foundMessage(id, body, { isNew, nowMs: this.#clock.now() })
        fetched.found.push({ ...found, historyId: readHistoryId(body) })
      }
    }
    await drafts.name(fetched.found)
    return fetched
  }
}

function noFailures(): Failures {
  return { byId: new Map(), hasFailedRequest: false }
}

function throwIfOfAccount({ byId }: Failures): void {
  for (const error of byId.values()) if (!mayBeOfMessage(error)) throw error
}

/** `known`: what shorter responses contain of the messages. */
function failedMessages(
  { byId }: Failures,
  isNew: boolean,
  results: ReadonlyMap<string, FetchResult> = new Map(),
): FailedMessage[] {
  return [...byId].map(([id, error]) => failedMessage(id, error, isNew, results.get(id)))
}

/** Found messages in the order of `ids`. */
async function collect(ids: readonly string[], yielded: AsyncIterable<Fetched>): Promise<Fetched> {
  const all: Fetched = { found: [], deleted: [], failed: [] }
  for await (const { found, deleted, failed } of yielded) {
    all.found.push(...found)
    all.deleted.push(...deleted)
    all.failed.push(...failed)
  }
  const positions = new Map(ids.map((id, at) => [id, at]))
  const positionOf = ({ message }: Found) => positions.get(message.providerMessageId) ?? 0
  all.found.sort((one, other) => positionOf(one) - positionOf(other))
  return all
}

/** The draft ids, which Gmail's messages do not have. Listed when the first draft needs them. */
class DraftIds {
  readonly #mailbox: GmailMailbox
  readonly #signal: AbortSignal
  #ids: ReadonlyMap<string, string> | undefined

  constructor(mailbox: GmailMailbox, signal: AbortSignal) {
    this.#mailbox = mailbox
    this.#signal = signal
  }

  async name(found: readonly FoundMessage[]): Promise<void> {
    for (const { message, folders } of found) {
      if (!folders.includes(DRAFT)) continue
      this.#ids ??= await listDraftIds(this.#mailbox, this.#signal)
      const draftId = this.#ids.get(message.providerMessageId)
      if (draftId !== undefined) message.draftId = draftId
    }
  }
}

function readHistoryId(message: unknown): bigint {
  const id = text(object(message).historyId)
  return id !== undefined && /^\d{1,30}$/.test(id) ? BigInt(id) : 0n
}
