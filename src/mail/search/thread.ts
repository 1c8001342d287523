import { workerFile } from '../../platform/threads/worker-file.ts'
import { WorkerThread } from '../../platform/threads/worker-thread.ts'
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

export type SearchRequest = Work
export type SearchResult = string | string[] | IndexResult

/** Searches take milliseconds, and a step of indexing some more. */
const TIMEOUT_MS = 20_000
/** The thread takes some 10 MB, and its start some 0.1 s. */
const IDLE_MS = 60_000

/**
 * The worker thread of search: it has the index of the file store, and splits the texts of messages into terms for PostgreSQL. Requests
 * run in the order of the calls. Every failure is a `SearchUnavailable`.
 */
export class SearchThread {
  readonly #thread: WorkerThread<SearchRequest, SearchResult>

  /** Without a file it only computes terms. */
  constructor(options?: IndexFileOptions, idleMs = IDLE_MS) {
    this.#thread = new WorkerThread({
      file: workerFile('search-worker'),
      data: options,
      timeoutMs: TIMEOUT_MS,
      idleMs,
    })
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
  extractTerms(messages: readonly IndexedMessage[]): Promise<string> {
    return this.#call({ kind: 'terms', messages }) as Promise<string>
  }

  /** Calls in progress fail. */
  close(): Promise<void> {
    return this.#thread.close()
  }

  #call(work: Work): Promise<SearchResult> {
    return this.#thread.call(work).catch((error: Error) => {
      throw unavailable(error.message)
    })
  }
}

function unavailable(reason: string): SearchUnavailable {
  return new SearchUnavailable(`The search index cannot be used: ${reason}`)
}
