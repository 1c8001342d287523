import type { Pagination } from '../generated/schema.ts'
import type { ApiRequest, Client, RequestOptions } from './client.ts'

/** What a list returns, beside its items. */
export interface ListResponse {
  pagination: Pagination
}

/** One page of a list. Iterating over it goes on with the pages that follow. */
export class Page<Item, Response extends ListResponse = ListResponse> implements AsyncIterable<Item> {
  readonly items: readonly Item[]
  readonly pagination: Pagination
  /** The response itself: some lists say more than their items. */
  readonly response: Response
  readonly #load: (cursor: string) => Promise<Page<Item, Response>>

  constructor(response: Response, items: readonly Item[], load: (cursor: string) => Promise<Page<Item, Response>>) {
    this.response = response
    this.items = items
    this.pagination = response.pagination
    this.#load = load
  }

  get hasNext(): boolean {
    return this.pagination.nextCursor !== undefined
  }

  /** The page after this one; undefined after the last. */
  async next(): Promise<Page<Item, Response> | undefined> {
    const { nextCursor } = this.pagination
    return nextCursor === undefined ? undefined : this.#load(nextCursor)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let page: Page<Item, Response> | undefined = this
    while (page !== undefined) {
      yield* page.items
      // The cursor of such a page tries the same again, which may fail for as long as a mail server is down.
      if (page.items.length === 0 && page.pagination.partial) return
      page = await page.next()
    }
  }
}

/** A list that is requested when it is awaited (its first page) or iterated over (all its items). */
export class PagedList<Item, Response extends ListResponse = ListResponse>
  implements PromiseLike<Page<Item, Response>>, AsyncIterable<Item>
{
  readonly #load: () => Promise<Page<Item, Response>>
  #first: Promise<Page<Item, Response>> | undefined

  constructor(load: () => Promise<Page<Item, Response>>) {
    this.#load = load
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting it is its purpose
  then<Fulfilled = Page<Item, Response>, Rejected = never>(
    onFulfilled?: ((page: Page<Item, Response>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#first ??= this.#load()
    return this.#first.then(onFulfilled, onRejected)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this
  }
}

/** The pages of a list, whose items are the member `name` of each response. */
export function listPages<Item, Response extends ListResponse>(
  client: Client,
  request: ApiRequest,
  name: keyof Response,
  options: RequestOptions = {},
): PagedList<Item, Response> {
  async function load(cursor?: string): Promise<Page<Item, Response>> {
    const query = cursor === undefined ? request.query : { ...request.query, cursor }
    const response = await client.json<Response>({ ...request, query }, options)
    return new Page(response, response[name] as readonly Item[], load)
  }
  return new PagedList(load)
}
