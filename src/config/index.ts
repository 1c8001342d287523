/**
 * The settings of the service, from the environment, `.env`, `service.config.json` or defaults. `settings/` declares each
 * one. Nothing else reads the environment of the process.
 */
import { readEnvFile } from './env-file.ts'
import { type Inspection, inspectConfig, type Loaded, loadConfig, type Sources } from './load.ts'

export type { EffectiveSetting, SettingSource } from './effective.ts'
export { ConfigError, type Inspection, inspectConfig, type Loaded, loadConfig } from './load.ts'
export { type Config, SETTINGS } from './settings/index.ts'

/** The settings of this process. Throws `ConfigError`. */
export function readConfig(): Loaded {
  return loadConfig(sourcesOfProcess())
}

/** The settings of this process, also when they are not valid. Throws `ConfigError` when `.env` cannot be read. */
export function inspectProcessConfig(): Inspection {
  return inspectConfig(sourcesOfProcess())
}

function sourcesOfProcess(): Sources {
  const folder = process.cwd()
  return { environment: { ...readEnvFile(folder), ...process.env }, folder }
}
