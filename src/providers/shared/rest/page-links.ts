import { sha256 } from '../../../platform/crypto/sha256.ts'
import { ProviderError } from '../../contract/index.ts'

/** More pages than any mailbox has, also where a page holds five messages. */
const MAX_PAGES = 100_000
/** A provider may return empty pages between others, because of what it filters out. */
const MAX_EMPTY_PAGES = 1000

/**
 * The links to the pages of one listing. A provider that links pages in a circle, or adds pages forever, would otherwise keep the
 * mailbox busy without end.
 */
export class PageLinks {
  readonly #doing: string
  /** Shortened hashes, because links are long. */
  readonly #followed = new Set<string>()
  #emptyPages = 0

  /** `doing`: for errors. */
  constructor(doing: string) {
    this.#doing = doing
  }

  /** Returns the link to the next page. `items`: how many the page that links to it has. Throws `unavailable` when the listing does not end. */
  follow(link: string, items: number): string {
    const mark = sha256(link, 'base64url').slice(0, 16)
    if (this.#followed.has(mark)) throw this.#error('its pages link to each other in a circle')
    this.#followed.add(mark)
    this.#emptyPages = items === 0 ? this.#emptyPages + 1 : 0
    const isEndless = this.#followed.size > MAX_PAGES || this.#emptyPages > MAX_EMPTY_PAGES
    if (isEndless) throw this.#error('it has too many pages')
    return link
  }

  #error(why: string): ProviderError {
    return new ProviderError('unavailable', `${this.#doing}: the provider's list does not end (${why})`)
  }
}
