import type { FakeRequest, FakeResponse } from '../fake/http-server.ts'
import { badRequest } from './errors.ts'

const MAX_PARTS = 20
/** Graph sends Outlook so many parts of a batch at once, each of which counts as a request to the mailbox. */
const PARTS_AT_ONCE = 4

interface Part {
  id?: string
  method?: string
  url?: string
  headers?: Record<string, string>
  body?: unknown
}

/** `POST /v1.0/$batch`: each part has its own status and uses the bearer token of the batch. Responses come in any order. */
export async function handleBatch(
  request: FakeRequest,
  handlePart: (part: FakeRequest) => Promise<FakeResponse>,
): Promise<FakeResponse> {
  const { requests } = JSON.parse(request.body.toString() || '{}') as { requests?: Part[] }
  if (!requests || requests.length === 0) return badRequest('The batch is empty.')
  if (requests.length > MAX_PARTS) return badRequest(`The batch may have at most ${MAX_PARTS} requests.`)
  if (new Set(requests.map(({ id }) => id)).size < requests.length || requests.some(({ id }) => !id))
    return badRequest('Every request needs a unique id.')
  const responses: object[] = []
  let broken: 'hang' | 'reset' | undefined
  const waiting = requests.values()
  const dispatch = async () => {
    for (const part of waiting) {
      const response = await handlePart(partRequest(request, part))
      if (typeof response === 'string') broken = response
      else responses.push(await shown(part, response))
    }
  }
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, dispatch))
  return broken ?? Response.json({ responses })
}

function partRequest(request: FakeRequest, part: Part): FakeRequest {
  const headers = new Headers(part.headers)
  headers.set('authorization', request.headers.get('authorization') ?? '')
  return {
    method: part.method?.toUpperCase() ?? '',
    url: new URL(`/v1.0${part.url?.startsWith('/') ? '' : '/'}${part.url ?? ''}`, request.url),
    headers,
    body: Buffer.from(part.body === undefined ? '' : JSON.stringify(part.body)),
    signal: request.signal,
  }
}

async function shown({ id }: Part, response: Response): Promise<object> {
  const headers = Object.fromEntries(response.headers)
  return { id, status: response.status, headers, body: await content(response) }
}

/** JSON stays as it is; other content is base64. */
async function content(response: Response): Promise<unknown> {
  const bytes = Buffer.from(await response.arrayBuffer())
  if (!response.headers.get('content-type')?.includes('json')) return bytes.toString('base64')
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return bytes.toString()
  }
}
