/**
 * The settings of the service: environment, then `service.config.json`, then defaults. The tables stand in
 * `config/table/`; nothing else reads the environment of the process.
 */
import { type Loaded, loadConfig } from './config/load.ts'

export { ConfigError, type Loaded, loadConfig } from './config/load.ts'
export type { Config } from './config/settings.ts'

/** The settings of this process. Throws `ConfigError`. */
export function readConfig(): Loaded {
  return loadConfig({ environment: process.env, folder: process.cwd() })
}
