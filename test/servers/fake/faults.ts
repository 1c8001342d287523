/** What a provider may do instead of answering. Which status and body stand for it is the provider's matter. */
export type Fault =
  | 'rate-limited'
  /** Google only: 403 rateLimitExceeded. */
  | 'rate-limited-403'
  /** Google only: 403 dailyLimitExceeded. */
  | 'daily-limit'
  /** 403 insufficientPermissions at Google, ErrorAccessDenied at Graph. */
  | 'missing-scope'
  /** 401 although the token is good. */
  | 'unauthorized'
  | 'server-error'
  /** 503. */
  | 'unavailable'
  /** 200 with JSON that ends in the middle. */
  | 'malformed'
  /** 200 with a page of HTML, as a broken proxy answers. */
  | 'html'
  | 'hang'
  | 'reset'
  /** Graph only: the answer is right but its nextLink or deltaLink points to `foreignOrigin`. */
  | 'foreign-link'

export interface PlannedFault {
  as: Fault
  /** Default 1. */
  times?: number
  /** Default any. Requests for tokens have a user too. */
  user?: string
  /** Matched with `<METHOD> <path>?<query>`; default any request. */
  on?: RegExp
  /** Seconds, sent as `Retry-After` with the rate limits and 503. Default none. */
  retryAfter?: number
  /** Only parts of batches, or only whole requests; default both. */
  parts?: boolean
  /** With foreign-link; default http://127.0.0.1:9 . */
  foreignOrigin?: string
}

/** Faults waiting for the requests they are meant for, used up in the order they were planned. */
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

  /** How many are still waiting. */
  get waiting(): number {
    return this.#planned.reduce((sum, fault) => sum + fault.left, 0)
  }

  clear(): void {
    this.#planned = []
  }
}

/** The faults that look the same at every provider. */
export function commonFault(fault: Fault): Response | 'hang' | 'reset' | undefined {
  if (fault === 'hang' || fault === 'reset') return fault
  if (fault === 'malformed')
    return new Response('{"value":[{"id":', { headers: { 'content-type': 'application/json' } })
  if (fault === 'html')
    return new Response('<html><body>Bad gateway</body></html>', { headers: { 'content-type': 'text/html' } })
  return undefined
}
