import { type ConfigFile, type Environment, isBranch, readConfigFile, unknownPaths, valueAt } from './file.ts'
import type { Basics, Setting } from './setting.ts'
import { type Config, SETTINGS } from './settings/index.ts'

export interface Sources {
  environment: Environment
  /** The folder of `service.config.json` and of a relative SERVICE_CONFIG. */
  folder: string
}

export interface Loaded {
  config: Config
  /** Settings that work but are probably mistakes; logged at the start. */
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

type Values = Record<string, unknown>

/** Reads each setting from the environment, the file or its default, in this order. An empty variable counts as absent. Throws `ConfigError`. */
export function loadConfig({ environment, folder }: Sources): Loaded {
  const file = readConfigFile(environment, folder)
  const errors = [...file.errors]
  const values: Values = {}
  const settings: [string, Setting<unknown>][] = Object.entries(SETTINGS)
  for (const [key, setting] of settings) {
    const given = givenValue(setting, environment, file)
    if ('error' in given) errors.push(given.error)
    else if (given.value === undefined) values[key] = undefined
    else {
      try {
        values[key] = setting.kind.parse(given.value)
      } catch {
        // The parser's error may contain the value, which may be a secret.
        errors.push(`${given.from} must be ${setting.kind.expects}.`)
      }
    }
  }
  errors.push(...contradictions(values, environment, file))
  if (errors.length > 0) throw new ConfigError(errors)
  for (const [key, setting] of settings) values[key] ??= fallbackOf(setting, values)
  const config = Object.freeze(values) as unknown as Config
  return { config, warnings: warningsOf(config, environment, file) }
}

type Given = { value: unknown; from: string } | { error: string }

function givenValue(setting: Setting<unknown>, environment: Environment, file: ConfigFile): Given {
  const text = environment[setting.env]
  if (text !== undefined && text.trim() !== '') return { value: text, from: setting.env }
  if (setting.path === undefined) return { value: undefined, from: setting.env }
  const from = `${setting.path} in ${file.name} (${setting.env})`
  const missing: string[] = []
  const value = resolved(valueAt(file.values, setting.path), environment, missing)
  if (missing.length > 0)
    return { error: `${from} refers to ${missing.join(', ')}, which the environment does not define.` }
  return { value: value === '' ? undefined : value, from }
}

const REFERENCE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/

/** Replaces `"env:NAME"` by the environment variable, also inside lists and objects. */
function resolved(value: unknown, environment: Environment, missing: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => resolved(item, environment, missing))
  if (isBranch(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, environment, missing)]))
  }
  const name = typeof value === 'string' ? REFERENCE.exec(value.trim())?.[1] : undefined
  if (name === undefined) return value
  const text = environment[name]
  if (text === undefined || text.trim() === '') missing.push(name)
  return text
}

function fallbackOf(setting: Setting<unknown>, values: Values): unknown {
  const { fallback } = setting
  return isBranch(fallback) && typeof fallback.of === 'function' ? fallback.of(basicsOf(values)) : fallback
}

/** PUBLIC_URL is declared before the settings whose default depends on it. */
function basicsOf(values: Values): Basics {
  return { port: Number(values.port), isLocal: isLoopback(values.publicUrl) }
}

/** True for a PUBLIC_URL that only browsers on this machine can open, and when it is absent. */
function isLoopback(publicUrl: unknown): boolean {
  if (typeof publicUrl !== 'string') return true
  const { hostname } = new URL(publicUrl)
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

const MIN_KEY_CHARS = 32
const SHORT_KEY = `SERVICE_API_KEY has fewer than ${MIN_KEY_CHARS} characters and can be guessed.
    Set a random key, such as the output of: openssl rand -hex 32`

const MIN_PASSWORD_CHARS = 12
const SHORT_PASSWORD = `ADMIN_PASSWORD has fewer than ${MIN_PASSWORD_CHARS} characters and can be guessed. Set a longer one.`

function isShortKey(key: unknown): boolean {
  return typeof key === 'string' && key.length < MIN_KEY_CHARS
}

/** Errors of settings that are valid alone but not together. */
function contradictions(values: Values, environment: Environment, file: ConfigFile): string[] {
  const errors: string[] = []
  const isGiven = (setting: Setting<unknown>) => {
    const given = givenValue(setting, environment, file)
    return 'error' in given || given.value !== undefined
  }
  if (isGiven(SETTINGS.databaseUrl) && !isGiven(SETTINGS.serviceApiKey)) {
    errors.push('SERVICE_API_KEY is missing. With DATABASE_URL, give every instance the same key.')
  }
  if (isShortKey(values.serviceApiKey) && !isLoopback(values.publicUrl)) errors.push(SHORT_KEY)
  const { otelLogsMaxExportBatchSize: batch, otelLogsMaxQueueSize: queue } = SETTINGS
  const sizes = [values.otelLogsMaxExportBatchSize ?? batch.fallback, values.otelLogsMaxQueueSize ?? queue.fallback]
  if (Number(sizes[0]) > Number(sizes[1])) errors.push(`${batch.env} must not be greater than ${queue.env}.`)
  return errors
}

function warningsOf(config: Config, environment: Environment, file: ConfigFile): string[] {
  const known = new Set(Object.values(SETTINGS).map((setting) => setting.path ?? ''))
  const warnings = unknownPaths(file.values, known).map(
    (path) => `${file.name}: ${path} is not a setting and does nothing.`,
  )
  const settings: Setting<unknown>[] = Object.values(SETTINGS)
  for (const setting of settings) {
    if (!setting.planned) continue
    const given = givenValue(setting, environment, file)
    if ('error' in given || given.value === undefined) continue
    warnings.push(`${setting.env} is set but has no effect in this version.`)
  }
  for (const [id, secret, ids] of [
    ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET', [config.googleClientId, config.googleClientSecret]],
    ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET', [config.microsoftClientId, config.microsoftClientSecret]],
  ] as const) {
    if ((ids[0] === undefined) !== (ids[1] === undefined)) {
      warnings.push(`${id} and ${secret} belong together. Accounts can only be connected when both are set.`)
    }
  }
  if (isShortKey(config.serviceApiKey)) warnings.push(SHORT_KEY)
  if (config.adminPassword !== undefined && config.adminPassword.length < MIN_PASSWORD_CHARS) {
    warnings.push(SHORT_PASSWORD)
  }
  if (config.databaseUrl !== undefined && isLoopback(config.publicUrl)) {
    warnings.push(
      'PUBLIC_URL is a loopback address: the links work only on this machine, and the service may connect to local targets. Set PUBLIC_URL.',
    )
  }
  return warnings
}
