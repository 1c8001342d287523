/**
 * The HTTP server that features add their routes to, and its OpenAPI document.
 * Every route declares `config.access` and a schema. `Idempotency.writing` makes the handler of every keyed POST.
 */

export { sendList } from './list-response.ts'
export { type ApiInfo, type OpenApiDocument, openApiDocument } from './openapi/document.ts'
export { errorPageRoute } from './openapi/error-page.ts'
export { readExamples } from './openapi/examples.ts'
export { openApiRoutes } from './openapi/routes.ts'
export type { OpenApiWebhook, OpenApiWebhooks } from './openapi/webhooks.ts'
export { done, errorSchema, limitQuery, listOf, pageQuery, pagination } from './schemas.ts'
export { namesHtml, wantsHtml } from './server/accept.ts'
export { type Access, type Authenticator, type Caller, firstOf, type Scope, sentKey } from './server/access.ts'
export type { AuditEntry, AuditLog } from './server/audit.ts'
export { ATTACHMENT_BODY_LIMIT, WEBHOOK_BODY_LIMIT } from './server/body.ts'
export { builtFile, sendBuiltFile } from './server/built-file.ts'
export { ifMatchVersion, wantsFresh, withVersion } from './server/conditions.ts'
export { closeServer } from './server/connections.ts'
export { type Cookie, cookieAttributes, parseCookies } from './server/cookies.ts'
export type { AllowedOrigins } from './server/cors.ts'
export { asAppError, type ErrorBody, errorBody } from './server/errors.ts'
export type { EventStream, StreamConnection } from './server/event-stream.ts'
export type {
  Commit,
  Handler,
  Idempotency,
  Prepare,
  ResponseBody,
  TypedReply,
  TypedRequest,
} from './server/idempotency.ts'
export type { UploadedFile } from './server/multipart.ts'
export { type Bucket, clientBlock, type RateLimits, type RouteLimits } from './server/rate-limit.ts'
export { refuseMisspelledMembers } from './server/schema-compilers.ts'
export { type App, createServer, type ResponseFacts, type ServerOptions } from './server/server.ts'
export { RECONNECT_MS, type StreamLimits, StreamSlots, sendEventStream } from './server/stream-slots.ts'
