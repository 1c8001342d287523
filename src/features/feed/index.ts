/**
 * Events read over the API: listed, and streamed as they happen. Both go by `position`, the order that the fan-out gives.
 * Writes nothing; webhooks are the way to hear of events without asking.
 */
export { feedRoutes } from './routes.ts'
export { EventStreams } from './streams.ts'
