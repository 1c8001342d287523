/**
 * Has providers tell of changes, instead of asking them again and again: Gmail by Cloud Pub/Sub, Graph by change notifications.
 * A notice only says where to look; the sync room looks. What cannot be pushed is polled.
 */
import './tables.ts'

export { type GmailPullerDeps, gmailPuller, type PullerState, type PullerTiming } from './gmail-puller.ts'
export { pushRoutes } from './graph-notifications.ts'
export { type Push, type PushDeps, type PushWays, push } from './renewal.ts'
export { erasePush } from './store.ts'
export { webhookTarget } from './target.ts'
