/**
 * Events over the API: a list and a stream of server-sent events. Both follow `position`, the order that the fan-out assigns.
 * Read only. Applications that cannot receive webhooks read events here.
 */
export { feedRoutes } from './routes.ts'
export { EventStreams } from './streams.ts'
