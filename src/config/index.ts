/**
 * The settings of the service, from the environment, `service.config.json` or defaults. `settings/` declares each one.
 * Nothing else reads the environment of the process.
 */
import { type Loaded, loadConfig } from './load.ts'

export { ConfigError, type Loaded, loadConfig } from './load.ts'
export type { Config } from './settings/index.ts'

/** The settings of this process. Throws `ConfigError`. */
export function readConfig(): Loaded {
  return loadConfig({ environment: process.env, folder: process.cwd() })
}
