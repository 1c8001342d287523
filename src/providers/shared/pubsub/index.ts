/**
 * Cloud Pub/Sub over its REST API, as far as a subscriber needs it, authenticated as a service account. Google's client library
 * costs 134 packages. Failures are `ProviderError`s that contain neither the key nor a token.
 */
export { type Pubsub, type PubsubMessage, type PubsubSettings, pubsub } from './client.ts'
