import type { RateLimit } from '../rest/index.ts'

/** How often sync polls a mailbox without push. A poll without changes is one request of two quota units. */
export const POLL_INTERVAL_MS = 30_000

/** Google allows a user 15,000 units a minute: the burst and what is refilled in a minute add up to exactly that. */
export const RATE_LIMIT: RateLimit = { concurrency: 8, quota: { perSecond: 200, burst: 3000 } }
