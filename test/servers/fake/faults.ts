/** A failure to inject. Each fake maps it to its provider's status and body. */
export type Fault =
  | 'rate-limited'
  /** Google only: 403 rateLimitExceeded. */
  | 'rate-limited-403'
  /** Google only: 429 whose message names the end of the pause, `retryAfter` seconds from now, without a header. */
  | 'rate-limited-until'
  /** Google only: 409 of a change that met another one. */
  | 'aborted'
  /** Google only: 403 dailyLimitExceeded. */
  | 'daily-limit'
  /** 403 insufficientPermissions at Google, ErrorAccessDenied at Graph. */
  | 'missing-scope'
  /** 401 although the token is valid. */
  | 'unauthorized'
  | 'server-error'
  /** 503. */
  | 'unavailable'
  /** 200 with truncated JSON. */
  | 'malformed'
  /** 200 with an HTML page, as a misconfigured proxy returns. */
  | 'html'
  /** 200 with a text of 40 MB. */
  | 'immense'
  | 'hang'
  | 'reset'
  /** Graph only: 403 ErrorCannotDeleteObject. */
  | 'cannot-delete'
  /** Graph only: a normal response whose nextLink or deltaLink points to `foreignOrigin`. */
  | 'foreign-link'

export interface PlannedFault {
  as: Fault
  /** Default 1. */
  times?: number
  /** Default any user. Token requests have a user too. */
  user?: string
  /** Matched against `<METHOD> <path>?<query>`; default any request. */
  on?: RegExp
  /** Seconds in `Retry-After` of rate limits and 503s. Default none. */
  retryAfter?: number
  /** True: only parts of batches. False: only HTTP requests. Default both. */
  parts?: boolean
  /** Google only: with such a part, the batch fails as a whole, or each of its parts does. */
  entireBatch?: 'response' | 'parts'
  /** The request is executed all the same. */
  executes?: boolean
  /** With foreign-link; default http://127.0.0.1:9 . */
  foreignOrigin?: string
  /** With foreign-link, in place of another origin: the links lead to the mailbox of this address. */
  foreignMailbox?: string
}

/** Planned faults. A request takes the first one that matches it. */
export class Faults {
  #planned: (PlannedFault & { left: number })[] = []

  plan(fault: PlannedFault): void {
    this.#planned.push({ ...fault, left: fault.times ?? 1 })
  }

  take(request: { user: string | null; method: string; url: URL; part: boolean }): PlannedFault | undefined {
    const line = `${request.method} ${request.url.pathname}${request.url.search}`
    const found = this.#planned.find(
      (fault) =>
        (fault.user === undefined || fault.user === request.user) &&
        (fault.on === undefined || fault.on.test(line)) &&
        (fault.parts === undefined || fault.parts === request.part),
    )
    if (!found) return undefined
    found.left -= 1
    if (found.left <= 0) this.#planned = this.#planned.filter((fault) => fault !== found)
    return found
  }

  /** Number of faults that no request has taken yet. */
  get waiting(): number {
    return this.#planned.reduce((sum, fault) => sum + fault.left, 0)
  }

  clear(): void {
    this.#planned = []
  }
}

/** The faults that are the same for every provider. */
export function commonFault(fault: Fault): Response | 'hang' | 'reset' | undefined {
  if (fault === 'hang' || fault === 'reset') return fault
  if (fault === 'malformed')
    return new Response('{"value":[{"id":', { headers: { 'content-type': 'application/json' } })
  if (fault === 'html')
    return new Response('<html><body>Bad gateway</body></html>', { headers: { 'content-type': 'text/html' } })
  if (fault === 'immense') return Response.json({ value: [{ id: 'one', displayName: 'x'.repeat(40_000_000) }] })
  return undefined
}
