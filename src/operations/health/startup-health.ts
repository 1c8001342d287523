import type { Summary } from './api.ts'
import type { HealthDeps } from './health.ts'
import { memory } from './probe.ts'

/** Facts about the service that follow from the settings alone. */
export interface StartupFacts {
  cache: HealthDeps['cache']['provider']
  queue: HealthDeps['queue']['provider']
  pubsub: HealthDeps['bus']['provider']
  licence: Pick<HealthDeps['licence'], 'plan' | 'accountLimit'>
  isGmailPushConfigured: boolean
}

/** The health of a service that waits for its database or for Redis, or migrates: degraded, with every part unavailable. */
export function startupHealth({ cache, queue, pubsub, licence, isGmailPushConfigured }: StartupFacts): Summary {
  return {
    status: 'degraded',
    services: { database: false, cache: false, queue: false, pubsub: false },
    cache: { provider: cache },
    queue: { provider: queue },
    pubsub: { provider: pubsub },
    gmailPush: { configured: isGmailPushConfigured, ready: false, mode: 'polling' },
    onboarding: { canProceed: false, reasons: ['database_unavailable'] },
    license: { plan: licence.plan, effectiveAccountLimit: licence.accountLimit, currentAccounts: null },
    memory: { percentage: memory().percentage },
    warnings: [],
  }
}
