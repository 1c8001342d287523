import type { RateLimit } from '../shared/rest/index.ts'

/** How often sync polls a mailbox without push. Graph allows 10,000 requests in ten minutes: 50 folders use a tenth of that. */
export const POLL_INTERVAL_MS = 30_000

/** Exchange executes at most four requests of one application for one mailbox at a time. */
export const RATE_LIMIT: RateLimit = { concurrency: 4 }
