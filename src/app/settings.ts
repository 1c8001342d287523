import type { Config } from '../config/index.ts'
import type { GmailPullerDeps } from '../mail/push/index.ts'
import type { SyncSettings } from '../mail/sync/index.ts'
import { parseApiKeys } from '../platform/crypto/api-keys.ts'
import type { OtlpOptions } from '../platform/otlp/index.ts'
import { readOAuthProviders } from '../providers/mail-oauth/index.ts'
import type { AuthScreen } from '../ui/hosted/index.ts'

// Converts the settings to the options of the features.

export function pubsubSettings(config: Config): GmailPullerDeps['settings'] {
  return {
    url: config.googlePubsubUrl,
    ...(config.pubsubTopicName !== undefined && { topicName: config.pubsubTopicName }),
    ...(config.pubsubSubscriptionName !== undefined && { subscriptionName: config.pubsubSubscriptionName }),
    ...(config.applicationCredentials !== undefined && { credentials: config.applicationCredentials }),
    maxMessages: config.pubsubMaxMessages,
    ackDeadlineSeconds: config.pubsubAckDeadline,
    maxRetries: config.pubsubMaxRetries,
  }
}

export function syncSettings(config: Config): SyncSettings {
  return {
    initialMessages: config.syncInitialMessages,
    folders: config.syncFolders,
    includeBodies: config.webhookIncludeBodies,
  }
}

export function authScreen(config: Config): AuthScreen {
  return {
    name: config.authScreenName,
    logoUrl: config.authScreenLogoUrl,
    logoDarkUrl: config.authScreenLogoDarkUrl,
    color: config.authScreenColor,
    supportUrl: config.authScreenSupportUrl,
    privacyUrl: config.authScreenPrivacyUrl,
  }
}

/** Undefined while the export is not enabled. */
export function otlpSettings(config: Config): Omit<OtlpOptions, 'clock' | 'version' | 'instance' | 'log'> | undefined {
  if (!config.otelLogsEnabled) return undefined
  const collector = config.otelEndpoint ?? 'http://localhost:4318'
  return {
    url: config.otelLogsEndpoint ?? `${collector.replace(/\/+$/, '')}/v1/logs`,
    headers: config.otelLogsHeaders ?? {},
    serviceName: config.otelServiceName,
    loggerName: config.otelLoggerName,
    resourceAttributes: config.otelLogsResourceAttributes ?? {},
    maxQueueSize: config.otelLogsMaxQueueSize,
    maxExportBatchSize: config.otelLogsMaxExportBatchSize,
    scheduledDelayMs: config.otelLogsScheduledDelayMs,
  }
}

/** The texts of the secret settings, which no log record may contain. */
export function secretTexts(config: Config): string[] {
  const headers = Object.values(config.otelLogsHeaders ?? {})
  return [
    ...(config.serviceApiKey === undefined ? [] : parseApiKeys(config.serviceApiKey)),
    config.adminPassword,
    config.licenceKey,
    ...(config.encryptionKeys ?? '').split(',').flatMap((entry) => entry.trim().split(':').slice(1)),
    ...privateKeyIn(config.applicationCredentials),
    config.googleClientSecret,
    config.microsoftClientSecret,
    ...readOAuthProviders(config.oauthProviders).providers.map(({ clientSecret }) => clientSecret),
    ...[config.databaseUrl, config.redisUrl, config.otelEndpoint, config.otelLogsEndpoint].flatMap(passwordsIn),
    // `Bearer <token>`: the token by itself, too.
    ...headers.flatMap((value) => [value, ...value.split(' ').slice(1)]),
  ].filter((text) => text !== undefined)
}

/** The private key of a service account, and each of its lines, because a record may show them apart. */
function privateKeyIn(credentials: string | undefined): string[] {
  try {
    const { private_key: key } = JSON.parse(credentials ?? '')
    return typeof key === 'string' ? [key, ...key.split('\n').filter((line) => !line.startsWith('-----'))] : []
  } catch {
    // A path.
    return []
  }
}

/** The password of a URL as it is written and decoded, and the URL with it. */
function passwordsIn(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return []
  const { password } = new URL(url)
  if (password === '') return []
  return [url, password, decoded(password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
