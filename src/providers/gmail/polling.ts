/** How often sync polls a mailbox without push. A poll without changes is one request of two quota units. */
export const POLL_INTERVAL_MS = 30_000
