import type { Json } from '../../../src/platform/http/openapi/components.ts'
import type { Example, ExampleRequest } from '../../../src/platform/http/openapi/examples.ts'
import type { ApiResponse } from '../http/http.ts'

/** A member of a body, also of an object inside it, as its path. */
type MemberPath = readonly string[]

/** The request of an example without one member of its body, or without the body. */
export interface ReducedRequest {
  /** The missing member, as error details name it: `body.guest.email`. `body` when there is none. */
  path: string
  /** Whether the OpenAPI document allows the request. */
  isAllowed: boolean
  request: ExampleRequest
}

const MAX_DEPTH = 3

/**
 * The requests that lack one member of the body of a working example, or the body. `isBodyRequired` is what the document says,
 * and `isValid` checks a body with its schema. Pages are not requested: their errors are texts for people.
 */
export function reducedRequests(
  { request = {} }: Example,
  isBodyRequired: boolean,
  isValid: (body: Json) => boolean,
): ReducedRequest[] {
  const { body, ...bodiless } = request
  if (body === undefined) return []
  const headers = { ...request.headers, accept: 'application/json' }
  const members = memberPaths(body).map((path) => {
    const reduced = withoutMember(body, path)
    return {
      path: ['body', ...path].join('.'),
      isAllowed: isValid(reduced),
      request: { ...request, headers, body: reduced },
    }
  })
  const withoutBody = { path: 'body', isAllowed: !isBodyRequired, request: { ...bodiless, headers } }
  return [...members, withoutBody]
}

/** Whether a response refuses the request because of the missing member: it names it, or the object that must have one of several. */
export function refusesMissing({ status, json }: ApiResponse, path: string): boolean {
  if (status !== 400 || json?.error?.code !== 'validation_failed') return false
  if (path === 'body') return true
  const parent = path.slice(0, path.lastIndexOf('.'))
  return json.error.details.some((detail: { path: string; message: string }) => {
    return detail.path === path || (detail.path === parent && parent !== 'body')
  })
}

/** The members of a body and of the objects and the first list items inside it. */
function memberPaths(value: Json | undefined, path: MemberPath = []): MemberPath[] {
  if (value === undefined || value === null || typeof value !== 'object' || path.length >= MAX_DEPTH) return []
  if (Array.isArray(value)) return memberPaths(value[0], [...path, '0'])
  return Object.entries(value).flatMap(([name, member]) => [[...path, name], ...memberPaths(member, [...path, name])])
}

function withoutMember(body: Json, path: MemberPath): Json {
  const [name = '', ...rest] = path
  if (Array.isArray(body)) {
    return body.map((item, index) => (String(index) === name ? withoutMember(item, rest) : item))
  }
  if (body === null || typeof body !== 'object') return body
  if (rest.length > 0) return { ...body, [name]: withoutMember(body[name] ?? null, rest) }
  return Object.fromEntries(Object.entries(body).filter(([other]) => other !== name))
}
