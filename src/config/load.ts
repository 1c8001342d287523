import { rethrowProgrammingError } from '../platform/errors/programming-errors.ts'
import { type EffectiveSetting, effectiveSetting, type SettingSource } from './effective.ts'
import { type Environment, isBranch, readConfigFile } from './file.ts'
import { givenValue } from './operator-value.ts'
import { contradictions, findWarnings, isLoopback, misspellings } from './problems.ts'
import type { Basics, Setting, Values } from './setting.ts'
import { type Config, SETTINGS } from './settings/index.ts'

export interface Sources {
  environment: Environment
  /** The folder of `service.config.json` and of a relative SERVICE_CONFIG. */
  folder: string
}

export interface Loaded {
  config: Config
  /** Every setting with its source, for operators. */
  settings: EffectiveSetting[]
  /** Settings that work but are probably mistakes; logged at the start. */
  warnings: string[]
}

/** The settings, also when they are not valid. */
export interface Inspection {
  /** Undefined when there are errors. */
  config: Config | undefined
  settings: EffectiveSetting[]
  errors: string[]
  warnings: string[]
}

/** Every error in the settings at once. The messages name settings but contain no values. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly errors: readonly string[]
  constructor(errors: readonly string[]) {
    super(`The settings are not valid:\n${errors.map((error) => `  - ${error}`).join('\n')}`)
    this.errors = errors
  }
}

/** Reads each setting from the environment, the file or its default, in this order. An empty variable counts as absent. Throws `ConfigError`. */
export function loadConfig(sources: Sources): Loaded {
  const { config, errors, ...rest } = inspectConfig(sources)
  if (config === undefined) throw new ConfigError(errors)
  return { config, ...rest }
}

/** Reads the settings like `loadConfig`, and reports errors instead of throwing them. */
export function inspectConfig({ environment, folder }: Sources): Inspection {
  const file = readConfigFile(environment, folder)
  const errors = [...file.errors]
  const values: Values = {}
  const sources = new Map<string, SettingSource>()
  const invalid = new Set<string>()
  const settings: [string, Setting<unknown>][] = Object.entries(SETTINGS)
  for (const [key, setting] of settings) {
    const found = givenValue(setting, environment, file)
    sources.set(key, found.source)
    if ('error' in found) {
      errors.push(found.error)
      invalid.add(key)
    } else if (found.value === undefined) values[key] = undefined
    else {
      try {
        values[key] = setting.kind.parse(found.value)
      } catch (error) {
        rethrowProgrammingError(error)
        // The parser's error may contain the value, which may be a secret.
        errors.push(`${found.from} must be ${setting.kind.expects}.`)
        invalid.add(key)
      }
    }
  }
  errors.push(...contradictions(values, environment, file))
  const isFileStore = values.databaseUrl === undefined && !invalid.has('databaseUrl')
  for (const [key, setting] of settings) values[key] ??= resolveFallback(setting, values)
  const effective = settings.map(([key, setting]) => {
    const source = sources.get(key) ?? 'default'
    const isMade = setting.generated === 'always' || (setting.generated === 'file-store' && isFileStore)
    const value = invalid.has(key) ? undefined : values[key]
    return effectiveSetting(setting, value, source === 'default' && isMade ? 'generated' : source)
  })
  const config = errors.length > 0 ? undefined : (Object.freeze(values) as unknown as Config)
  const warnings = [...misspellings(environment, file), ...findWarnings(config, environment, file)]
  return { config, settings: effective, errors, warnings }
}

function resolveFallback(setting: Setting<unknown>, values: Values): unknown {
  const { fallback } = setting
  return isBranch(fallback) && typeof fallback.of === 'function' ? fallback.of(readBasics(values)) : fallback
}

/** PUBLIC_URL is declared before the settings whose default depends on it. */
function readBasics(values: Values): Basics {
  return { port: Number(values.port), isLocal: isLoopback(values.publicUrl) }
}
