/**
 * Receives change notifications instead of polling: from Gmail by Cloud Pub/Sub, from Graph by webhooks. A notification only
 * names an account; the sync feature then syncs it. Accounts without push are polled.
 */
import type {} from './tables.ts'

export { pushFeature } from './feature.ts'
export { type GmailPullerDeps, gmailPuller, type PullerState, type PullerTiming } from './gmail-puller.ts'
export { pushRoutes } from './graph-notifications.ts'
export { webhookTarget } from './graph-webhook.ts'
export { type Push, type PushChannels, type PushDeps, push } from './scheduler.ts'
