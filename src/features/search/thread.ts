import { Worker } from 'node:worker_threads'
import { workerFile } from '../../lib/worker-file.ts'
import { type IndexQuery, type IndexResult, SearchUnavailable } from './contract.ts'
import type { IndexFileOptions } from './sqlite/index-file.ts'
import type { SearchableMessage } from './terms.ts'

type Work =
  | { kind: 'identity' }
  | { kind: 'index'; messageIds: readonly string[] }
  | { kind: 'indexed'; messageIds: readonly string[] }
  | { kind: 'find'; query: IndexQuery }
  | { kind: 'terms'; messages: readonly IndexedMessage[] }

export interface IndexedMessage extends SearchableMessage {
  id: string
  receivedAt: number
}

export type SearchRequest = Work & { id: number }
export interface SearchReply {
  id: number
  result?: string | string[] | IndexResult
  error?: string
}

interface Waiting {
  resolve(result: SearchReply['result']): void
  reject(error: Error): void
  timer: NodeJS.Timeout
}

/** Searches take milliseconds, and a step of indexing some more. */
const TIMEOUT_MS = 20_000

/**
 * The worker thread of search: it has the index of the file store, and splits the texts of messages into terms for PostgreSQL. Started by the first call, and again after it failed. Requests run in the order of the calls.
 * Every failure is a `SearchUnavailable`.
 */
export class SearchThread {
  readonly #options: IndexFileOptions | undefined
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0
  #closed = false

  /** Without a file it only computes terms. */
  constructor(options?: IndexFileOptions) {
    this.#options = options
  }

  identity(): Promise<string> {
    return this.#call({ kind: 'identity' }) as Promise<string>
  }

  async index(messageIds: readonly string[]): Promise<void> {
    await this.#call({ kind: 'index', messageIds })
  }

  indexed(messageIds: readonly string[]): Promise<string[]> {
    return this.#call({ kind: 'indexed', messageIds }) as Promise<string[]>
  }

  find(query: IndexQuery): Promise<IndexResult> {
    return this.#call({ kind: 'find', query }) as Promise<IndexResult>
  }

  /** JSON of an array of `{messageId, receivedAt, terms}`. */
  termsOf(messages: readonly IndexedMessage[]): Promise<string> {
    return this.#call({ kind: 'terms', messages }) as Promise<string>
  }

  /** Calls in progress fail. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#end('it was closed')
  }

  #call(work: Work): Promise<SearchReply['result']> {
    if (this.#closed) return Promise.reject(unavailable('it was closed'))
    this.#worker ??= this.#start()
    const worker = this.#worker
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void this.#end('it did not respond in time'), TIMEOUT_MS)
      this.#waiting.set(id, { resolve, reject, timer })
      worker.postMessage({ ...work, id } satisfies SearchRequest)
    })
  }

  #start(): Worker {
    const worker = new Worker(workerFile('search-worker'), { workerData: this.#options })
    worker.on('message', (reply: SearchReply) => this.#settle(reply))
    worker.on('error', (error) => {
      if (this.#worker === worker) void this.#end(error instanceof Error ? error.message : String(error))
    })
    worker.unref()
    return worker
  }

  #settle({ id, result, error }: SearchReply): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    if (error === undefined) waiting.resolve(result)
    else waiting.reject(unavailable(error))
  }

  async #end(reason: string): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    for (const id of this.#waiting.keys()) this.#settle({ id, error: reason })
    await worker?.terminate()
  }
}

function unavailable(reason: string): SearchUnavailable {
  return new SearchUnavailable(`The search index cannot be used: ${reason}`)
}
