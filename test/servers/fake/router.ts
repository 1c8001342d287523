import type { FakeRequest, FakeResponse } from './http-server.ts'

/** A request that found its route. */
export interface Routed extends FakeRequest {
  /** The address of the user whose token it carries. */
  user: string | null
  /** Values of the `{names}` in the pattern, decoded. */
  params: Record<string, string>
  part: boolean
}

export interface Route {
  method: string
  /** `/v1.0/me/messages/{id}`; one name per segment. */
  pattern: string
  /** Missing: the published package answers. */
  answer?: (request: Routed) => FakeResponse | Promise<FakeResponse>
  /** Needs a good bearer token; default true. */
  signedIn?: boolean
}

export interface Match {
  route: Route
  params: Record<string, string>
}

/** Finds the first route that fits; an unknown path is no match. */
export function router(routes: readonly Route[]): (method: string, path: string) => Match | undefined {
  const compiled = routes.map((route) => ({ route, segments: route.pattern.split('/') }))
  return (method, path) => {
    const segments = path.split('/')
    for (const { route, segments: wanted } of compiled) {
      if (route.method !== method || wanted.length !== segments.length) continue
      const params = valuesOf(wanted, segments)
      if (params) return { route, params }
    }
    return undefined
  }
}

function valuesOf(wanted: string[], segments: string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [at, want] of wanted.entries()) {
    const segment = segments[at] ?? ''
    if (want.startsWith('{') && segment !== '') params[want.slice(1, -1)] = decodeURIComponent(segment)
    else if (want !== segment) return undefined
  }
  return params
}
