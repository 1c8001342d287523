import type { Config } from '../config/index.ts'
import type { GmailPullerDeps } from '../features/push/index.ts'
import type { SyncSettings } from '../features/sync/index.ts'
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
