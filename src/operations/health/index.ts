/**
 * The health of the service: `/health` for people and monitors (always 200; `degraded` when a required part is down),
 * `/health/live` and `/health/ready` for orchestrators, `/health/detailed` with a key.
 */
export { type Health, type HealthDeps, health, type Phase, type ProviderState } from './health.ts'
export { healthRoutes } from './routes.ts'
export type { StartupFacts } from './startup-health.ts'
export { type StartupServer, startupServer } from './startup-server.ts'
