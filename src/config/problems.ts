import { parseApiKeys } from '../platform/crypto/api-keys.ts'
import { closestWord, didYouMean } from '../platform/errors/did-you-mean.ts'
import { readOAuthProviders } from '../providers/mail-oauth/index.ts'
import { type ConfigFile, type Environment, unknownPaths } from './file.ts'
import { givenValue } from './operator-value.ts'
import { type Setting, settingPaths, type Values } from './setting.ts'
import { type Config, SETTINGS } from './settings/index.ts'

/** True for a PUBLIC_URL that only browsers on this machine can open, and when it is absent. */
export function isLoopback(publicUrl: unknown): boolean {
  if (typeof publicUrl !== 'string') return true
  const { hostname } = new URL(publicUrl)
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

const MIN_KEY_CHARS = 32
const SHORT_KEY = `SERVICE_API_KEY has fewer than ${MIN_KEY_CHARS} characters and can be guessed.
    Set a random key, such as the output of: openssl rand -hex 32`

const MIN_PASSWORD_CHARS = 12
const SHORT_PASSWORD = `ADMIN_PASSWORD has fewer than ${MIN_PASSWORD_CHARS} characters and can be guessed. Set a longer one.`

function isShortKey(keys: unknown): boolean {
  return typeof keys === 'string' && parseApiKeys(keys).some((key) => key.length < MIN_KEY_CHARS)
}

/** Errors of settings that are valid alone but not together. */
export function contradictions(values: Values, environment: Environment, file: ConfigFile): string[] {
  const errors: string[] = []
  const isGiven = (setting: Setting<unknown>) => {
    const found = givenValue(setting, environment, file)
    return 'error' in found || found.value !== undefined
  }
  if (isGiven(SETTINGS.databaseUrl) && !isGiven(SETTINGS.serviceApiKey)) {
    errors.push('SERVICE_API_KEY is missing. With DATABASE_URL, give every instance the same key.')
  }
  if (isShortKey(values.serviceApiKey) && !isLoopback(values.publicUrl)) errors.push(SHORT_KEY)
  const { otelLogsMaxExportBatchSize: batch, otelLogsMaxQueueSize: queue } = SETTINGS
  const sizes = [values.otelLogsMaxExportBatchSize ?? batch.fallback, values.otelLogsMaxQueueSize ?? queue.fallback]
  if (Number(sizes[0]) > Number(sizes[1])) errors.push(`${batch.env} must not be greater than ${queue.env}.`)
  if (typeof values.oauthProviders === 'string') errors.push(...readOAuthProviders(values.oauthProviders).errors)
  return errors
}

/** Names that are no settings but look like one, so that a mistyped name does not go unnoticed. */
export function misspellings(environment: Environment, file: ConfigFile): string[] {
  const all: Setting<unknown>[] = Object.values(SETTINGS)
  const paths = all.flatMap(settingPaths)
  const inFile = unknownPaths(file.values, new Set(paths)).map((path) => {
    return `${file.name}: ${path} is not a setting and does nothing.${didYouMean(path, paths)}`
  })
  const isSet = (name: string) => (environment[name] ?? '').trim() !== ''
  const names = [...all.map(({ env }) => env), 'SERVICE_CONFIG']
  // A variable that resembles a setting with a value probably belongs to another program.
  const absent = names.filter((name) => !isSet(name))
  const inEnvironment = Object.keys(environment).flatMap((name) => {
    if (names.includes(name) || !isSet(name)) return []
    const close = closestWord(name, absent, ({ length }) => (length <= SHORT_NAME ? 1 : 2))
    return close === undefined ? [] : `${name} is not a setting and does nothing. Did you mean "${close}"?`
  })
  return [...inFile, ...inEnvironment]
}

/** Up to this length, names that differ by two characters are other words: HOST and HOME. */
const SHORT_NAME = 8

/** Settings that work but are probably mistakes. None without a valid configuration. */
export function findWarnings(config: Config | undefined, environment: Environment, file: ConfigFile): string[] {
  const isGiven = (setting: Setting<unknown>) => {
    const found = givenValue(setting, environment, file)
    return !('error' in found) && found.value !== undefined
  }
  if (config === undefined) return []
  const warnings = incompleteGroups(config)
  if (isShortKey(config.serviceApiKey)) warnings.push(SHORT_KEY)
  if (config.adminPassword !== undefined && config.adminPassword.length < MIN_PASSWORD_CHARS) {
    warnings.push(SHORT_PASSWORD)
  }
  if (config.databaseUrl !== undefined && isLoopback(config.publicUrl)) {
    warnings.push(
      'PUBLIC_URL is a loopback address: the links work only on this machine, and the service may connect to local targets. Set PUBLIC_URL.',
    )
  }
  if (config.databaseUrl !== undefined && isGiven(SETTINGS.synchronous)) {
    warnings.push('SQLITE_SYNCHRONOUS has no effect with DATABASE_URL. Remove one of them.')
  }
  if (config.databaseUrl === undefined && isGiven(SETTINGS.databaseMaxConnections)) {
    warnings.push('DATABASE_MAX_CONNECTIONS has no effect without DATABASE_URL. Remove it, or set DATABASE_URL.')
  }
  if (!isLoopback(config.publicUrl) && config.publicUrl.startsWith('http://')) {
    warnings.push('PUBLIC_URL begins with http://: passwords and keys are sent unencrypted. Use https.')
  }
  return warnings
}

/** Settings that have an effect only together. */
function incompleteGroups(config: Config): string[] {
  const warnings: string[] = []
  for (const [id, secret, ids] of [
    ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET', [config.googleClientId, config.googleClientSecret]],
    ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET', [config.microsoftClientId, config.microsoftClientSecret]],
  ] as const) {
    if ((ids[0] === undefined) !== (ids[1] === undefined)) {
      warnings.push(`${id} and ${secret} belong together. Accounts can only be connected when both are set.`)
    }
  }
  const pubsub = [config.pubsubTopicName, config.pubsubSubscriptionName, config.applicationCredentials]
  if (new Set(pubsub.map((value) => value === undefined)).size > 1) {
    warnings.push(
      'PUBSUB_TOPIC_NAME, PUBSUB_SUBSCRIPTION_NAME and APPLICATION_CREDENTIALS belong together. Without all three, gmail accounts are polled.',
    )
  }
  return warnings
}
