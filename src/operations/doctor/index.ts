/**
 * Checks of an installation: its database, Redis, providers, public address, webhooks and clock, each with a remedy. They change
 * nothing. `posthorn doctor` runs them all, the portal those of one provider.
 */
export { type Check, type CheckResult, failed, ok, runChecks, Skip, skipped, warning } from './check.ts'
export { clockCheck, type TimeSource } from './clock.ts'
export { dataFolderCheck } from './data-folder.ts'
export { databaseChecks, openedBy } from './database.ts'
export { mailProviderChecks } from './mail-provider.ts'
export { type ProviderChecks, providerChecks } from './provider.ts'
export { publicUrlChecks } from './public-url.ts'
export { redisChecks } from './redis.ts'
export { doctorRoutes } from './routes.ts'
export { timeZonesCheck } from './time-zones.ts'
export { webhooksCheck } from './webhooks.ts'
