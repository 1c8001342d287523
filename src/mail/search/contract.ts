import type { Tx } from '../../platform/db/index.ts'
import type { MessageSearch } from '../messages/index.ts'

type MessageQuery = Parameters<MessageSearch['find']>[0]
export type SearchWords = MessageQuery['words']
/** A message that a search has found. */
export type MessageHit = Awaited<ReturnType<MessageSearch['find']>>['hits'][number]
/** Words as providers search them. */
export type ProviderWords = NonNullable<ReturnType<MessageSearch['providerWords']>>

/** The search index of one engine. It is derived from the messages and can be built again at any time. */
export interface SearchIndex {
  /** Identifies what is stored. A value not seen before means an empty index, which must be built from all messages. */
  identity(): Promise<string>
  /** False when the stored index certainly has another identity. Does not open it. */
  mayHave(identity: string): boolean
  /** Removes all entries, in the transaction that records the beginning of a build. */
  clear(tx: Tx): Promise<void>
  /** Which of these messages have an entry. */
  indexed(messageIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Takes up to `limit` rows of `unindexedMessages`, newest first, and brings the entries of their messages up to date. Then deletes the
   * rows, so that a crash repeats work and loses none. Returns how many; 0 when none is left that nobody else works on.
   */
  indexChanges(limit: number): Promise<number>
  /** The messages of the labels that contain all terms, in the order of lists. Without terms there are none. */
  find(query: IndexQuery): Promise<IndexResult>
  /** Twice safely. */
  close(): Promise<void>
}

export interface IndexQuery extends Omit<MessageQuery, 'words'> {
  terms: readonly { term: string; isPrefix: boolean }[]
}

export interface IndexResult {
  /** One more than the limit where there is one. */
  hits: MessageHit[]
  /** Exact up to `COUNT_LIMIT`, otherwise any larger number. */
  count: number
}

/** Counting further would cost more than the page. */
export const COUNT_LIMIT = 1000

/** A list with at most as many messages is read as a whole, because a frequent word has far more matches outside it. */
export const SMALL_LIST = 2000

/** The page of all matches, which are in the order of lists. */
export function pageOfMatches(
  matches: readonly MessageHit[],
  { after, offset, limit }: Pick<IndexQuery, 'after' | 'offset' | 'limit'>,
): IndexResult {
  const [receivedAt = 0, messageId = ''] = after ?? []
  const isBefore = (hit: MessageHit) =>
    hit.receivedAt < receivedAt || (hit.receivedAt === receivedAt && hit.messageId < messageId)
  const left = after === undefined ? matches : matches.filter(isBefore)
  return { hits: left.slice(offset, offset + limit + 1), count: matches.length }
}

/** The order of lists: newest first. */
export function byList(a: MessageHit, b: MessageHit): number {
  return b.receivedAt - a.receivedAt || (a.messageId < b.messageId ? 1 : -1)
}
/** Cannot search now: the message says why. The next call may succeed. */
export class SearchUnavailable extends Error {
  override name = 'SearchUnavailable'
}
