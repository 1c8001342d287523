/** How long an Idempotency-Key is kept with the first response. `ui/docs/introduction.md` says it too. */
export const IDEMPOTENCY_KEY_HOURS = 24
export const IDEMPOTENCY_KEY_KEPT_MS = IDEMPOTENCY_KEY_HOURS * 60 * 60 * 1000
