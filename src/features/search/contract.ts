import type { MessageHit, MessageQuery } from '../messages/index.ts'

/** The search index of one engine. It is derived from the messages and can be built again at any time. */
export interface SearchIndex {
  /** Identifies what is stored. A value not seen before means an empty index, which must be built from all messages. */
  identity(): Promise<string>
  /** False when the stored index certainly has another identity. Does not open it. */
  mayHave(identity: string): boolean
  /**
   * Takes up to `limit` rows of `unindexedMessages`, newest first, and brings the entries of their messages up to date. Then deletes the
   * rows, so that a crash repeats work and loses none. Returns how many; 0 when none is left that nobody else works on.
   */
  indexChanges(limit: number): Promise<number>
  /** The messages of one label that contain all terms, in the order of lists. Without terms there are none. */
  find(query: IndexQuery): Promise<IndexResult>
  /** Twice safely. */
  close(): Promise<void>
}

export interface IndexQuery extends Omit<MessageQuery, 'accountId' | 'words'> {
  terms: readonly { term: string; isPrefix: boolean }[]
}

export interface IndexResult {
  /** One more than the limit where there is one. */
  hits: MessageHit[]
  /** Counted up to `COUNT_LIMIT + 1`. */
  count: number
}

export const COUNT_LIMIT = 10_000
/** Cannot search now: the message says why. The next call may succeed. */
export class SearchUnavailable extends Error {
  override name = 'SearchUnavailable'
}
