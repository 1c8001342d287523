/**
 * The HTTP server that features add their routes to, and its OpenAPI document.
 * Every route declares `config.access` and a schema. `Idempotency.writing` makes the handler of every keyed POST.
 */

export { sendList } from './list-response.ts'
export { type ApiInfo, type OpenApiDocument, openApiDocument } from './openapi/document.ts'
export { readExamples } from './openapi/examples.ts'
export { openApiRoutes } from './openapi/routes.ts'
export type { OpenApiWebhook, OpenApiWebhooks } from './openapi/webhooks.ts'
export { done, errorSchema, limitQuery, listSchema, pageQuery, pagination } from './schemas.ts'
export type { AuditEntry, AuditLog } from './server/audit.ts'
export { closeServer } from './server/connections.ts'
export type { AllowedOrigins } from './server/cors.ts'
export { namesHtml, wantsHtml } from './server/requests/accept.ts'
export {
  type Access,
  type Authenticator,
  type Caller,
  combineAuthenticators,
  type Scope,
  sentKey,
} from './server/requests/access.ts'
export { ATTACHMENT_BODY_LIMIT, WEBHOOK_BODY_LIMIT } from './server/requests/body.ts'
export { ifMatchVersion, wantsFresh, withVersion } from './server/requests/conditions.ts'
export { type Cookie, cookieAttributes, parseCookies } from './server/requests/cookies.ts'
export type {
  Commit,
  Handler,
  Idempotency,
  Prepare,
  ResponseBody,
  TypedReply,
  TypedRequest,
} from './server/requests/idempotency.ts'
export type { UploadedFile } from './server/requests/multipart.ts'
export { type Bucket, clientBlock, type RateLimits, type RouteLimits } from './server/requests/rate-limit.ts'
export { refuseMisspelledMembers, requireValid, type SchemaWarmUp } from './server/requests/schema-compilers.ts'
export { builtFile, sendBuiltFile } from './server/responses/built-file.ts'
export { asAppError, type ErrorBody, errorBody } from './server/responses/errors.ts'
export type { EventStream, StreamConnection } from './server/responses/event-stream.ts'
export { RECONNECT_MS, type StreamLimits, StreamSlots, sendEventStream } from './server/responses/stream-slots.ts'
export { type App, createServer, type ResponseFacts, type ServerOptions } from './server/server.ts'
