/** One request or one part of a batch, as it was answered. */
export interface Call {
  /** Null: nobody signed in, or an unknown token. */
  user: string | null
  /** `GET /gmail/v1/users/{userId}/messages/{id}`. */
  what: string
  /** Path and query as they came. */
  path: string
  /** A part of a batch; the batch itself is another call. */
  part: boolean
  /** Missing while it is being answered, and for one that was cut. */
  status?: number
}

export interface CallFilter {
  user?: string
  /** Default false: HTTP requests. True: parts of batches. */
  part?: boolean
}

export class Calls {
  readonly all: Call[] = []

  /** How often each method and path pattern was called. */
  counts(filter: CallFilter = {}): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const call of this.matching(filter)) counts[call.what] = (counts[call.what] ?? 0) + 1
    return counts
  }

  /** How many HTTP requests (or parts) there were in all. */
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
