/**
 * The HTTP server the rooms add their routes to: access, validation, errors, request ids, rate buckets, graceful close.
 * Every route declares `config.access` and a schema; every keyed POST's handler is made by `Idempotency.writing`.
 */

export { type ApiInfo, type OpenApiDocument, openApiDocument } from './openapi/document.ts'
export type { Notice, Notices } from './openapi/notices.ts'
export { openApiRoutes } from './openapi/routes.ts'
export {
  type Outbound,
  type OutboundAnswer,
  OutboundError,
  type OutboundFailure,
  type OutboundRequest,
} from './outbound/contract.ts'
export { type OutboundDeps, outbound } from './outbound/outbound.ts'
export { done, errorSchema, listOf, pageQuery, pagination } from './schemas.ts'
export { type Access, type Authenticator, type Caller, type Scope, sentKey } from './server/access.ts'
export { ATTACHMENT_BODY_LIMIT } from './server/body.ts'
export { closeServer } from './server/closing.ts'
export { asAppError, type ErrorBody, errorBody } from './server/errors.ts'
export type { Answer, Commit, Handler, Idempotency, Prepare, TypedReply, TypedRequest } from './server/idempotency.ts'
export { type Bucket, clientBlock, type RateLimits, type RouteLimits } from './server/rate-limit.ts'
export { type App, createServer, type ServerOptions } from './server/server.ts'
