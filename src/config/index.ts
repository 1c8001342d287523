/**
 * The settings of the service, from the environment, `.env`, `service.config.json` or defaults. `settings/` declares each
 * one. Nothing else reads the environment of the process.
 */
import { readEnvFile } from './env-file.ts'
import { type Loaded, loadConfig } from './load.ts'

export { ConfigError, type Loaded, loadConfig } from './load.ts'
export type { Config } from './settings/index.ts'

/** The settings of this process. Throws `ConfigError`. */
export function readConfig(): Loaded {
  const folder = process.cwd()
  return loadConfig({ environment: { ...readEnvFile(folder), ...process.env }, folder })
}
