import type { FakeRequest, FakeResponse } from '../fake/http-server.ts'
import { badRequest } from './errors.ts'

const MOST_PARTS = 20

interface Part {
  id?: string
  method?: string
  url?: string
  headers?: Record<string, string>
  body?: unknown
}

/** `POST /v1.0/$batch`: each part is answered with a status of its own; its bearer is that of the batch. */
export async function answerBatch(
  request: FakeRequest,
  answerPart: (part: FakeRequest) => Promise<FakeResponse>,
): Promise<FakeResponse> {
  const { requests } = JSON.parse(request.body.toString() || '{}') as { requests?: Part[] }
  if (!requests || requests.length === 0) return badRequest('The batch is empty.')
  if (requests.length > MOST_PARTS) return badRequest(`The batch may have at most ${MOST_PARTS} requests.`)
  if (new Set(requests.map(({ id }) => id)).size < requests.length || requests.some(({ id }) => !id))
    return badRequest('Every request needs an id of its own.')
  const responses: object[] = []
  for (const part of requests) {
    const headers = new Headers(part.headers)
    headers.set('authorization', request.headers.get('authorization') ?? '')
    const url = new URL(`/v1.0${part.url?.startsWith('/') ? '' : '/'}${part.url ?? ''}`, request.url)
    const body = Buffer.from(part.body === undefined ? '' : JSON.stringify(part.body))
    const answer = await answerPart({
      method: part.method?.toUpperCase() ?? '',
      url,
      headers,
      body,
      gone: request.gone,
    })
    if (typeof answer === 'string') return answer
    responses.push({
      id: part.id,
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await content(answer),
    })
  }
  return Response.json({ responses })
}

/** JSON as it is, anything else in base64. */
async function content(answer: Response): Promise<unknown> {
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!answer.headers.get('content-type')?.includes('json')) return bytes.toString('base64')
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return bytes.toString()
  }
}
