import type { Clock } from '../../../lib/clock.ts'
import { type FoundMessage, ProviderError } from '../../contract/index.ts'
import { object, text } from '../../rest/index.ts'
import { type FetchResult, getMessages } from '../client.ts'
import { listDraftIds } from '../draft-ids.ts'
import { DRAFT } from '../folders.ts'
import { foundMessage, LABEL_FIELDS, LEAN_FIELDS, labelsOf, MESSAGE_FIELDS } from '../map.ts'
import type { GmailMailbox } from '../quota.ts'

/** A message that fails alone this many times is stored without content, so that sync can continue. */
const MAX_FAILURES = 3
const MAX_FAILING = 1000

type Found = FoundMessage & { historyId: bigint }

export interface Fetched {
  found: Found[]
  /** Deleted before they were fetched. */
  deleted: string[]
}

interface Failures {
  count: number
  /** Gmail returned other messages meanwhile. */
  isAlone: boolean
}

/** Fetches messages of one mailbox and counts the failures of each. */
export class Fetcher {
  readonly #mailbox: GmailMailbox
  readonly #clock: Clock
  readonly #failures = new Map<string, Failures>()

  constructor(mailbox: GmailMailbox, clock: Clock) {
    this.#mailbox = mailbox
    this.#clock = clock
  }

  /**
   * Yields what each request returned, so that the caller can store it before the next request waits for the quota or fails. Not in the
   * order of `ids`: what Gmail refuses comes later.
   */
  async *messages(ids: readonly string[], { isNew }: { isNew: boolean }, signal: AbortSignal): AsyncGenerator<Fetched> {
    const drafts = new DraftIds(this.#mailbox, signal)
    const failed = new Map<string, ProviderError>()
    const tooLong: string[] = []
    for await (const results of this.#results(ids, MESSAGE_FIELDS, failed, signal)) {
      for (const [id, result] of results) {
        if (result !== 'too_long') continue
        tooLong.push(id)
        results.delete(id)
      }
      if (results.size > 0) yield await this.#fetched(results, isNew, drafts)
    }
    for await (const results of this.#results(tooLong, LEAN_FIELDS, failed, signal)) {
      yield await this.#fetched(results, isNew, drafts)
    }
    this.#countFailures(failed, ids.length > failed.size)
    if (failed.size > 0) yield this.#fetched(failed, isNew, drafts)
  }

  /** The same at once, in the order of `ids`. */
  async allMessages(ids: readonly string[], options: { isNew: boolean }, signal: AbortSignal): Promise<Fetched> {
    const all: Fetched = { found: [], deleted: [] }
    for await (const { found, deleted } of this.messages(ids, options, signal)) {
      all.found.push(...found)
      all.deleted.push(...deleted)
    }
    const positions = new Map(ids.map((id, at) => [id, at]))
    const positionOf = ({ message }: Found) => positions.get(message.providerMessageId) ?? 0
    all.found.sort((one, other) => positionOf(one) - positionOf(other))
    return all
  }

  /** Yields the labels of messages, null for a deleted one, as each request returns them. */
  async *labels(ids: readonly string[], signal: AbortSignal): AsyncGenerator<Map<string, string[] | null>> {
    for await (const results of this.#get(ids, LABEL_FIELDS, signal)) {
      const labels = new Map<string, string[] | null>()
      let failure: ProviderError | undefined
      for (const [id, result] of results) {
        if (!(result instanceof ProviderError)) labels.set(id, labelsOf(result))
        else if (result.kind === 'not_found') labels.set(id, null)
        else failure = result
      }
      yield labels
      if (failure !== undefined) throw failure
    }
  }

  #get(ids: readonly string[], fields: string, signal: AbortSignal) {
    return getMessages(this.#mailbox, ids, { fields, clock: this.#clock, signal })
  }

  /** The results that are no failures. Adds the failures of single messages to `failed`, and throws others. */
  async *#results(
    ids: readonly string[],
    fields: string,
    failed: Map<string, ProviderError>,
    signal: AbortSignal,
  ): AsyncGenerator<Map<string, FetchResult>> {
    const left = new Set(ids)
    try {
      for await (const results of this.#get(ids, fields, signal)) {
        for (const [id, result] of results) {
          left.delete(id)
          if (!isFailure(result)) this.#failures.delete(id)
          else {
            failed.set(id, result)
            results.delete(id)
          }
        }
        if (results.size > 0) yield results
      }
    } catch (error) {
      const isOfMessages = error instanceof ProviderError && error.kind === 'unavailable' && !error.retryAfterMs
      if (!isOfMessages) throw error
      for (const id of left) failed.set(id, error)
    }
  }

  async #fetched(results: ReadonlyMap<string, FetchResult>, isNew: boolean, drafts: DraftIds): Promise<Fetched> {
    const fetched: Fetched = { found: [], deleted: [] }
    for (const [id, result] of results) {
      if (result instanceof ProviderError && result.kind === 'not_found') fetched.deleted.push(id)
      else {
        const body = result instanceof ProviderError || typeof result === 'string' ? {} : result
        const found = foundMessage(id, body, { isNew, nowMs: this.#clock.now() })
        fetched.found.push({ ...found, historyId: historyIdOf(body) })
      }
    }
    await drafts.name(fetched.found)
    return fetched
  }

  /** Throws a failure, unless all failed messages have failed repeatedly while others succeeded. */
  #countFailures(failed: ReadonlyMap<string, ProviderError>, hasSuccess: boolean): void {
    if (this.#failures.size > MAX_FAILING) this.#failures.clear()
    let fatal: ProviderError | undefined
    for (const [id, error] of failed) {
      const { count, isAlone } = this.#failures.get(id) ?? { count: 0, isAlone: false }
      const failures = { count: count + 1, isAlone: isAlone || hasSuccess }
      this.#failures.set(id, failures)
      const isPersistent = failures.count >= MAX_FAILURES && failures.isAlone && !error.missingScope
      if (!isPersistent) fatal ??= error
    }
    if (fatal !== undefined) throw fatal
  }
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

function isFailure(result: unknown): result is ProviderError {
  return result instanceof ProviderError && result.kind !== 'not_found'
}

function historyIdOf(message: unknown): bigint {
  const id = text(object(message).historyId)
  return id !== undefined && /^\d{1,30}$/.test(id) ? BigInt(id) : 0n
}
