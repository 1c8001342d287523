import type { MailSearch } from '../../../providers/contract/index.ts'
import type { MessageRow } from '../store.ts'
import type { ListFilter } from './stored-list.ts'

/** Words that a message must contain: case- and accent-folded, all of them, the last of each member as a prefix. */
export interface SearchWords {
  /** Anywhere: addresses, subject, the first 4 KB of the text, names of attachments. */
  q?: string | undefined
  from?: string | undefined
  /** Among the recipients, cc and bcc included. */
  to?: string | undefined
  subject?: string | undefined
}

export interface MessageQuery {
  accountId: string
  /** Messages with one of these labels of the account. Only one of them when messages have several. */
  labelIds: readonly string[]
  words: SearchWords
  filter: ListFilter
  /** The last message of the previous page. */
  after: readonly [receivedAt: number, messageId: string] | undefined
  offset: number
  limit: number
}

export interface MessageHit {
  messageId: string
  receivedAt: number
}

/** Words as providers search them: letters and digits in lower case, or addresses. */
export type ProviderWords = Pick<MailSearch, 'text' | 'from' | 'to' | 'subject'>

/** Finds stored messages by their words, newest first, at most one more than the limit. `mail/search` implements it. */
export interface MessageSearch {
  find(query: MessageQuery): Promise<{
    hits: MessageHit[]
    total: { count: number; capped: boolean }
    /** True while messages of the account are not indexed yet: they may be missing. */
    partial: boolean
  }>
  /** Undefined without a word. */
  providerWords(words: SearchWords): ProviderWords | undefined
  /** Whether a message that a provider found contains the words, as far as its row shows. */
  mayContain(
    message: Pick<MessageRow, 'accountId' | 'subject' | 'text' | 'fields' | 'sizeBytes'>,
    words: SearchWords,
  ): boolean
}

export function hasWords({ q, from, to, subject }: SearchWords): boolean {
  return [q, from, to, subject].some((text) => text !== undefined)
}
