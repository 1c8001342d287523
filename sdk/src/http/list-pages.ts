import type { ApiRequest, Client, RequestOptions } from './client.ts'
import { type ListResponse, Page, PagedList } from './page.ts'

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
