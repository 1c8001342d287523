import type { Clock } from '../../lib/clock.ts'
import type { FoundMessage } from '../contract/index.ts'
import { ProviderError } from '../contract/index.ts'
import type { RestMailbox } from '../rest/index.ts'
import { getMessages } from './api.ts'
import { foundMail, LEAN_FIELDS, labelsOf, MESSAGE_FIELDS, STATE_FIELDS } from './map.ts'
import { record, text } from './parts.ts'

/** After so many passes a message that alone cannot be fetched is stored with what is known, so that the rest goes on. */
const PASSES_LIMIT = 3
const FAILING_LIMIT = 1000

export interface Fetched {
  found: (FoundMessage & { historyId: bigint })[]
  /** They went in between. */
  gone: string[]
}

/** Fetches messages of one mailbox, and knows which of them failed in earlier passes. */
export class Fetcher {
  readonly #mailbox: RestMailbox
  readonly #clock: Clock
  readonly #failing = new Map<string, number>()

  constructor(mailbox: RestMailbox, clock: Clock) {
    this.#mailbox = mailbox
    this.#clock = clock
  }

  /** In the order asked for. */
  async messages(ids: readonly string[], isNew: (id: string) => boolean, signal: AbortSignal): Promise<Fetched> {
    const whole = await this.#get(ids, MESSAGE_FIELDS, signal)
    const tooLong = ids.filter((id) => whole.get(id) === 'too_long')
    const lean = await this.#get(tooLong, LEAN_FIELDS, signal)
    const answers = new Map([...whole, ...lean])
    this.#count(answers)
    const fetched: Fetched = { found: [], gone: [] }
    for (const id of ids) {
      const answer = answers.get(id)
      if (answer instanceof ProviderError && answer.kind === 'not_found') fetched.gone.push(id)
      else {
        const body = answer instanceof ProviderError || typeof answer === 'string' ? {} : answer
        const mail = foundMail(id, body, { isNew: isNew(id), nowMs: this.#clock.now() })
        fetched.found.push({ ...mail, historyId: historyIdOf(body) })
      }
    }
    return fetched
  }

  /** The labels of messages; null for one that went. */
  async labels(ids: readonly string[], signal: AbortSignal): Promise<Map<string, string[] | null>> {
    const labels = new Map<string, string[] | null>()
    for (const [id, answer] of await this.#get(ids, STATE_FIELDS, signal)) {
      if (!(answer instanceof ProviderError)) labels.set(id, labelsOf(answer))
      else if (answer.kind === 'not_found') labels.set(id, null)
      else throw answer
    }
    return labels
  }

  async #get(ids: readonly string[], fields: string, signal: AbortSignal) {
    if (ids.length === 0) return new Map<string, object | 'too_long' | ProviderError>()
    return getMessages(this.#mailbox, ids, { fields, clock: this.#clock, signal })
  }

  /** Throws what failed, unless only these messages fail, and have failed pass after pass. */
  #count(answers: ReadonlyMap<string, object | 'too_long' | ProviderError>): void {
    if (this.#failing.size > FAILING_LIMIT) this.#failing.clear()
    const failed: { error: ProviderError; isLasting: boolean }[] = []
    for (const [id, error] of answers) {
      if (!isFailure(error)) this.#failing.delete(id)
      else {
        const passes = (this.#failing.get(id) ?? 0) + 1
        this.#failing.set(id, passes)
        failed.push({ error, isLasting: passes >= PASSES_LIMIT && !error.missingScope })
      }
    }
    const hasGood = [...answers.values()].some((answer) => !(answer instanceof ProviderError))
    const worst = failed.find(({ isLasting }) => !isLasting || !hasGood)
    if (worst !== undefined) throw worst.error
  }
}

function isFailure(answer: unknown): answer is ProviderError {
  return answer instanceof ProviderError && answer.kind !== 'not_found'
}

function historyIdOf(message: unknown): bigint {
  const id = text(record(message).historyId)
  return id !== undefined && /^\d{1,30}$/.test(id) ? BigInt(id) : 0n
}
