/**
 * The HTTP client of the providers with a JSON API: Gmail and Graph. A bearer token goes to the configured origin only, requests
 * of one mailbox are paced, a refused token is renewed once, and every failure leaves as `ProviderError`. What an answer's
 * error means is told by the provider's own `errors.ts`. Knows no database and no routes.
 */
export { inBatches } from './batch.ts'
export { type RestClientOptions, restClient } from './client.ts'
export type { RestClient, RestMailbox, RestRequest, RestResponse, RestStream } from './contract.ts'
export { exchange, readBody } from './exchange.ts'
export { statusFailure } from './failure.ts'
export type { Pace } from './gate.ts'
export { shape } from './shape.ts'
