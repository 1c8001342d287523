/**
 * Opens, clicks and replies of sent messages. A tracked HTML body contains a pixel and links through this service; both are
 * public and carry a random token.
 */
import type {} from './tables.ts'

export { trackingFeature } from './feature.ts'
export { replyRecorder } from './replies.ts'
export { trackingRoutes } from './routes.ts'
export { type PreparedTracking, type Tracking, tracking } from './service.ts'
