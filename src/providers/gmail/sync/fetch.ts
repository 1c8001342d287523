import type { Clock } from '../../../lib/clock.ts'
import { type FoundMessage, ProviderError } from '../../contract/index.ts'
import { object, type RestMailbox, text } from '../../rest/index.ts'
import { type FetchResult, getMessages } from '../client.ts'
import { listDraftIds } from '../draft-ids.ts'
import { DRAFT } from '../folders.ts'
import { foundMessage, LABEL_FIELDS, LEAN_FIELDS, labelsOf, MESSAGE_FIELDS } from '../map.ts'

/** A message that fails alone this many times is stored without content, so that sync can continue. */
const MAX_FAILURES = 3
const MAX_FAILING = 1000

export interface Fetched {
  found: (FoundMessage & { historyId: bigint })[]
  /** Deleted before they were fetched. */
  deleted: string[]
}

/** Fetches messages of one mailbox and counts the failures of each. */
export class Fetcher {
  readonly #mailbox: RestMailbox
  readonly #clock: Clock
  readonly #failures = new Map<string, number>()

  constructor(mailbox: RestMailbox, clock: Clock) {
    this.#mailbox = mailbox
    this.#clock = clock
  }

  /** In the order of `ids`. */
  async messages(ids: readonly string[], { isNew }: { isNew: boolean }, signal: AbortSignal): Promise<Fetched> {
    const complete = await this.#get(ids, MESSAGE_FIELDS, signal)
    const tooLong = ids.filter((id) => complete.get(id) === 'too_long')
    const lean = await this.#get(tooLong, LEAN_FIELDS, signal)
    const results = new Map([...complete, ...lean])
    this.#countFailures(results)
    const fetched: Fetched = { found: [], deleted: [] }
    for (const id of ids) {
      const result = results.get(id)
      if (result instanceof ProviderError && result.kind === 'not_found') fetched.deleted.push(id)
      else {
        const body = result instanceof ProviderError || typeof result === 'string' ? {} : result
        const found = foundMessage(id, body, { isNew, nowMs: this.#clock.now() })
        fetched.found.push({ ...found, historyId: historyIdOf(body) })
      }
    }
    await this.#nameDrafts(fetched.found, signal)
    return fetched
  }

  /** Sets the draft ids, which Gmail's messages do not have. */
  async #nameDrafts(found: readonly FoundMessage[], signal: AbortSignal): Promise<void> {
    const drafts = found.filter(({ folders }) => folders.includes(DRAFT))
    if (drafts.length === 0) return
    const ids = await listDraftIds(this.#mailbox, signal)
    for (const { message } of drafts) {
      const draftId = ids.get(message.providerMessageId)
      if (draftId !== undefined) message.draftId = draftId
    }
  }

  /** The labels of messages; null for a deleted one. */
  async labels(ids: readonly string[], signal: AbortSignal): Promise<Map<string, string[] | null>> {
    const labels = new Map<string, string[] | null>()
    for (const [id, result] of await this.#get(ids, LABEL_FIELDS, signal)) {
      if (!(result instanceof ProviderError)) labels.set(id, labelsOf(result))
      else if (result.kind === 'not_found') labels.set(id, null)
      else throw result
    }
    return labels
  }

  async #get(ids: readonly string[], fields: string, signal: AbortSignal) {
    if (ids.length === 0) return new Map<string, FetchResult>()
    return getMessages(this.#mailbox, ids, { fields, clock: this.#clock, signal })
  }

  /** Throws a failure, unless all failed messages have failed repeatedly while others succeed. */
  #countFailures(results: ReadonlyMap<string, FetchResult>): void {
    if (this.#failures.size > MAX_FAILING) this.#failures.clear()
    const failed: { error: ProviderError; isPersistent: boolean }[] = []
    for (const [id, result] of results) {
      if (!isFailure(result)) this.#failures.delete(id)
      else {
        const count = (this.#failures.get(id) ?? 0) + 1
        this.#failures.set(id, count)
        failed.push({ error: result, isPersistent: count >= MAX_FAILURES && !result.missingScope })
      }
    }
    const hasSuccess = [...results.values()].some((result) => !(result instanceof ProviderError))
    const fatal = failed.find(({ isPersistent }) => !isPersistent || !hasSuccess)
    if (fatal !== undefined) throw fatal.error
  }
}

function isFailure(result: unknown): result is ProviderError {
  return result instanceof ProviderError && result.kind !== 'not_found'
}

function historyIdOf(message: unknown): bigint {
  const id = text(object(message).historyId)
  return id !== undefined && /^\d{1,30}$/.test(id) ? BigInt(id) : 0n
}
