/**
 * Cloud Pub/Sub over its REST API, as much as a reader of one subscription needs, signed in as a service account. Google's own client
 * library costs 134 packages. Failures leave as `ProviderError`; neither the key nor a token appears in them.
 */
export { type Pubsub, type PubsubSettings, pubsub, type Received } from './client.ts'
