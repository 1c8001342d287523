/**
 * The settings of the service, from the environment, `.env`, `service.config.json` or defaults. `settings/` declares each
 * one. Nothing else reads the environment of the process.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { errorCode } from '../platform/errors/describe-error.ts'
import type { Environment } from './file.ts'
import { ConfigError, type Inspection, inspectConfig, type Loaded, loadConfig, type Sources } from './load.ts'

export type { EffectiveSetting, SettingSource } from './effective.ts'
export { ConfigError, type Inspection, inspectConfig, type Loaded, loadConfig } from './load.ts'
export { isLoopback } from './problems.ts'
export { type Config, SETTINGS } from './settings/index.ts'

/** The settings of this process. Throws `ConfigError`. */
export function readConfig(): Loaded {
  return loadConfig(sourcesOfProcess())
}

/** The settings of this process, also when they are not valid. Throws `ConfigError` when `.env` cannot be read. */
export function inspectProcessConfig(): Inspection {
  return inspectConfig(sourcesOfProcess())
}

/** The variables of this process, for those that are no settings, such as DISPLAY. */
export function processEnvironment(): Environment {
  return process.env
}

function sourcesOfProcess(): Sources {
  const folder = process.cwd()
  return { environment: { ...readEnvFile(folder), ...process.env }, folder }
}

/** The variables of the file `.env` in the folder; none without the file. Throws `ConfigError` when it cannot be read. */
function readEnvFile(folder: string): Environment {
  const file = join(folder, '.env')
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    const code = errorCode(error) || 'unreadable'
    if (code === 'ENOENT') return {}
    throw new ConfigError([`Cannot read ${file} (${code}). Check its permissions.`])
  }
}
