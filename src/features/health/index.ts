/**
 * How the service is: `/health` for people and monitors (always 200, `degraded` when a needed part is down), `/health/live`
 * and `/health/ready` for orchestrators, `/health/detailed` with a key.
 */
export { type Health, type HealthDeps, health, type Phase, type ProviderState } from './health.ts'
export { healthRoutes } from './routes.ts'
export { type WaitingRoom, waitingRoom } from './startup-server.ts'
