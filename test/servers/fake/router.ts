import type { FakeRequest, FakeResponse } from './http-server.ts'

/** A request that matched a route. */
export interface Routed extends FakeRequest {
  /** Email address of the token's user. */
  user: string | null
  /** Values of the `{names}` in the pattern, decoded. */
  params: Record<string, string>
  part: boolean
}

export interface Route {
  method: string
  /** `/v1.0/me/messages/{id}`, `/v1/people/{id}:updateContact`; one name per segment. */
  pattern: string
  handle: (request: Routed) => FakeResponse | Promise<FakeResponse>
  /** Requires a valid bearer token; default true. */
  signedIn?: boolean
}

export interface Match {
  route: Route
  params: Record<string, string>
}

/** Returns a function that finds the first matching route. */
export function router(routes: readonly Route[]): (method: string, path: string) => Match | undefined {
  const compiled = routes.map((route) => ({ route, segments: route.pattern.split('/') }))
  return (method, path) => {
    const segments = path.split('/')
    for (const { route, segments: pattern } of compiled) {
      if (route.method !== method || pattern.length !== segments.length) continue
      const params = matchParams(pattern, segments)
      if (params) return { route, params }
    }
    return undefined
  }
}

function matchParams(pattern: string[], segments: string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [at, name] of pattern.entries()) {
    const segment = segments[at] ?? ''
    const [, parameter, end = ''] = /^\{(\w+)\}(.*)$/.exec(name) ?? []
    const value = segment.slice(0, segment.length - end.length)
    if (parameter !== undefined && value !== '' && segment.endsWith(end)) params[parameter] = decodeURIComponent(value)
    else if (name !== segment) return undefined
  }
  return params
}
