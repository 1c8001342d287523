/**
 * Drafts over the API. A draft is a message in the folder with the role `drafts`, whichever program wrote it; its row, its versions and
 * its events belong to the messages feature. Here are the requests: each saves at the provider first.
 */
import type {} from './tables.ts'

export { draftsFeature } from './feature.ts'
export { draftRoutes } from './routes.ts'
export { draftService } from './service.ts'
