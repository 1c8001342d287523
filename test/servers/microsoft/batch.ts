import type { FakeRequest, FakeResponse } from '../fake/http-server.ts'
import { badRequest } from './errors.ts'

const MAX_PARTS = 20

interface Part {
  id?: string
  method?: string
  url?: string
  headers?: Record<string, string>
  body?: unknown
}

/** `POST /v1.0/$batch`: each part has its own status and uses the bearer token of the batch. */
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
  for (const part of requests) {
    const headers = new Headers(part.headers)
    headers.set('authorization', request.headers.get('authorization') ?? '')
    const url = new URL(`/v1.0${part.url?.startsWith('/') ? '' : '/'}${part.url ?? ''}`, request.url)
    const body = Buffer.from(part.body === undefined ? '' : JSON.stringify(part.body))
    const response = await handlePart({
      method: part.method?.toUpperCase() ?? '',
      url,
      headers,
      body,
      signal: request.signal,
    })
    if (typeof response === 'string') return response
    responses.push({
      id: part.id,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await content(response),
    })
  }
  return Response.json({ responses })
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
