/**
 * The settings of the service: environment, then `service.config.json`, then defaults. The table stands in
 * `config/settings.ts`; nothing else reads the environment of the process.
 */
export type { Config } from './config/settings.ts'
