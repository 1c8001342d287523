/**
 * The HTTP client for providers with a JSON API (Gmail, Graph, Pub/Sub). It sends the bearer token to the configured origin
 * only, limits the requests of each mailbox, renews a refused token once, waits for short pauses after a 429, and throws
 * `ProviderError` only. Each provider's `errors.ts` maps its error bodies.
 */
export { batchResults, inBatches } from './batch.ts'
export { type RestClientOptions, restClient } from './client.ts'
export type { FailedRequest, RestClient, RestMailbox, RestRequest, RestResponse, RestStream } from './contract.ts'
export { single, statusError } from './errors.ts'
export { exchange, readBytes, readJson } from './exchange.ts'
export { type Json, list, object, parseJson, parser, text, time, UnexpectedResponse, wholeNumber } from './json.ts'
export { isFailure, isReading, mayBeOfMessage, resultOfEach } from './message-failures.ts'
export { isRefusal, once, toOutcome } from './outcome.ts'
export { PageLinks } from './page-links.ts'
export { ProjectBudget, type SharedLimit } from './project-budget.ts'
export type { QuotaLimits, QuotaRefusal } from './quota.ts'
export type { RateLimit } from './rate-limiter.ts'
