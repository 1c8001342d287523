/** One recorded request, or one part of a batch. */
export interface Call {
  /** Null without a token, or with an unknown one. */
  user: string | null
  /** Method and path pattern: `GET /gmail/v1/users/{userId}/messages/{id}`. */
  endpoint: string
  /** Path and query as received. */
  path: string
  /** True for a part of a batch; the batch request itself is a separate call. */
  part: boolean
  /** Missing before the response, and when the connection was cut or left hanging. */
  status?: number
}

export interface CallFilter {
  user?: string
  /** Default false: HTTP requests. True: parts of batches. */
  part?: boolean
}

export class Calls {
  readonly all: Call[] = []

  /** Number of calls per endpoint. */
  counts(filter: CallFilter = {}): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const call of this.matching(filter)) counts[call.endpoint] = (counts[call.endpoint] ?? 0) + 1
    return counts
  }

  /** Total number of HTTP requests, or of parts. */
  total(filter: CallFilter = {}): number {
    return this.matching(filter).length
  }

  matching(filter: CallFilter): Call[] {
    return this.all.filter(
      (call) => call.part === (filter.part ?? false) && (filter.user === undefined || call.user === filter.user),
    )
  }

  clear(): void {
    this.all.length = 0
  }
}
