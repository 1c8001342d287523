import type { FakeResponse } from '../fake/http-server.ts'
import { googleError } from './errors.ts'

/** The quota of each user of the fake Gmail. */
export interface QuotaLimits {
  /** In any 60 seconds. */
  unitsPerMinute?: number
  /** In any second. Google documents no such limit, but users report refusals of bursts. */
  unitsPerSecond?: number
  /** Requests in progress, the parts of batches counted one by one. Reported, too. */
  concurrent?: number
  /** The costs of methods: those of projects since May 2026 (default), or those before. */
  costs?: keyof typeof READ_COST
  /** Whether the refusals of the minute name the limit in `details`, as newer APIs of Google do. Default false. */
  namesLimit?: boolean
}

/** The cost that differs between the two documented tables: `messages.get`, `attachments.get`, `drafts.get` and `trash`. */
const READ_COST = { 'since-2026-05': 20, 'before-2026-05': 5 }

/** The table of Google's quota page, by method and path pattern below the user. */
const COSTS: Record<string, number> = {
  'GET /profile': 1,
  'GET /history': 2,
  'GET /labels': 1,
  'GET /labels/{id}': 1,
  'POST /labels': 5,
  'PUT /labels/{id}': 5,
  'PATCH /labels/{id}': 5,
  'DELETE /labels/{id}': 5,
  'GET /messages': 5,
  'POST /messages/{id}/modify': 5,
  'POST /messages/{id}/untrash': 5,
  'POST /messages/batchModify': 50,
  'POST /messages/batchDelete': 50,
  'DELETE /messages/{id}': 10,
  'POST /messages/send': 100,
  'GET /drafts': 5,
  'POST /drafts': 10,
  'PUT /drafts/{id}': 15,
  'DELETE /drafts/{id}': 10,
  'POST /drafts/send': 100,
  'POST /watch': 100,
  'POST /stop': 50,
}
const READS = [
  'GET /messages/{id}',
  'GET /messages/{messageId}/attachments/{id}',
  'GET /drafts/{id}',
  'POST /messages/{id}/trash',
]
const MINUTE_MS = 60_000
const SECOND_MS = 1000

interface Spent {
  at: number
  units: number
}

/** Counts the units of each user of Gmail, and refuses what exceeds the limits. */
export class Quota {
  #limits: QuotaLimits = {}
  readonly #spent = new Map<string, Spent[]>()
  readonly #running = new Map<string, number>()
  readonly #totals = new Map<string, { spent: number; refused: number }>()
  readonly #now: () => number

  /** `now` in milliseconds, monotonic. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Limits every user from now on; `{}` ends all limits. */
  limit(limits: QuotaLimits): void {
    this.#limits = limits
  }

  /** Units that a user has spent, and requests that were refused, each part of a batch counted. */
  total(user: string): { spent: number; refused: number } {
    return this.#totals.get(user) ?? { spent: 0, refused: 0 }
  }

  findCost(endpoint: string): number {
    const [, method = '', path = ''] = /^(\w+) (?:\/upload)?\/gmail\/v1\/users\/\{userId\}(\/.*)$/.exec(endpoint) ?? []
    const line = `${method} ${path}`
    return READS.includes(line) ? READ_COST[this.#limits.costs ?? 'since-2026-05'] : (COSTS[line] ?? 5)
  }

  /** Runs a request of a user, or refuses it. A refused request spends nothing. */
  async run(user: string, endpoint: string, respond: () => Promise<FakeResponse>): Promise<FakeResponse> {
    const units = this.findCost(endpoint)
    const refusal = this.#refusal(user, units)
    const { spent, refused } = this.total(user)
    if (refusal !== undefined) {
      this.#totals.set(user, { spent, refused: refused + 1 })
      return refusal
    }
    this.#totals.set(user, { spent: spent + units, refused })
    this.#recent(user).push({ at: this.#now(), units })
    this.#running.set(user, (this.#running.get(user) ?? 0) + 1)
    try {
      return await respond()
    } finally {
      this.#running.set(user, (this.#running.get(user) ?? 1) - 1)
    }
  }

  #refusal(user: string, units: number): Response | undefined {
    const { unitsPerMinute = Infinity, unitsPerSecond = Infinity, concurrent = Infinity } = this.#limits
    if ((this.#running.get(user) ?? 0) >= concurrent) return tooMany('Too many concurrent requests for user.')
    if (this.#within(user, SECOND_MS) + units > unitsPerSecond) {
      return tooMany('Resource has been exhausted (e.g. check quota).')
    }
    if (this.#within(user, MINUTE_MS) + units <= unitsPerMinute) return undefined
    const message =
      "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service 'gmail.googleapis.com' for consumer 'project_number:123456789012'."
    return googleError(403, 'rateLimitExceeded', 'PERMISSION_DENIED', message, {
      domain: 'usageLimits',
      ...(this.#limits.namesLimit && { details: [limitInfo(unitsPerMinute)] }),
    })
  }

  #recent(user: string): Spent[] {
    const all = (this.#spent.get(user) ?? []).filter(({ at }) => at > this.#now() - MINUTE_MS)
    this.#spent.set(user, all)
    return all
  }

  #within(user: string, ms: number): number {
    const since = this.#now() - ms
    return this.#recent(user).reduce((sum, { at, units }) => (at > since ? sum + units : sum), 0)
  }
}

/** 429, for bursts. */
const tooMany = (message: string) => googleError(429, 'rateLimitExceeded', 'RESOURCE_EXHAUSTED', message)

const limitInfo = (value: number) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'RATE_LIMIT_EXCEEDED',
  domain: 'googleapis.com',
  metadata: {
    service: 'gmail.googleapis.com',
    consumer: 'projects/123456789012',
    quota_metric: 'gmail.googleapis.com/default',
    quota_limit: 'defaultPerMinutePerUser',
    quota_limit_value: String(value),
    quota_unit: '1/min/{project}/{user}',
    quota_location: 'global',
  },
})
