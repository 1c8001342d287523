import { authFeature } from '../accounts/auth/index.ts'
import { accountsFeature } from '../accounts/index.ts'
import { bookingFeature } from '../booking/index.ts'
import { calendarsFeature } from '../calendars/index.ts'
import { contactsFeature } from '../contacts/index.ts'
import { deduplicationFeature } from '../events/deduplication/index.ts'
import { eventCatalogue, eventsFeature } from '../events/index.ts'
import { webhooksFeature } from '../events/webhooks/index.ts'
import type { AfterRestore, Feature } from '../feature.ts'
import { backfillFeature } from '../mail/backfill/index.ts'
import { bouncesFeature } from '../mail/bounces/index.ts'
import { draftsFeature } from '../mail/drafts/index.ts'
import { labelsFeature } from '../mail/labels/index.ts'
import { messagesFeature } from '../mail/messages/index.ts'
import { outboxFeature } from '../mail/outbox/index.ts'
import { pushFeature } from '../mail/push/index.ts'
import { searchFeature } from '../mail/search/index.ts'
import { syncFeature } from '../mail/sync/index.ts'
import { trackingFeature } from '../mail/tracking/index.ts'
import { apiKeysFeature } from '../operations/api-keys/index.ts'
import { auditFeature } from '../operations/audit/index.ts'
import { encryptionFeature } from '../operations/encryption/index.ts'
import { idempotencyFeature } from '../operations/idempotency/index.ts'
import { portalFeature } from '../operations/portal-api/index.ts'
import { platformFeature } from './platform-feature.ts'

/**
 * Every feature with tables or events. The order is that of the documentation of events, of a rotation of keys (the most valuable
 * secrets first), and of an erasure (deliveries before their events).
 */
export const featureList = [
  accountsFeature,
  authFeature,
  messagesFeature,
  labelsFeature,
  draftsFeature,
  outboxFeature,
  bouncesFeature,
  trackingFeature,
  searchFeature,
  syncFeature,
  backfillFeature,
  pushFeature,
  calendarsFeature,
  contactsFeature,
  bookingFeature,
  webhooksFeature,
  deduplicationFeature,
  eventsFeature,
  idempotencyFeature,
  apiKeysFeature,
  auditFeature,
  encryptionFeature,
  portalFeature,
  platformFeature,
] as const satisfies readonly Feature[]

const features: readonly Feature[] = featureList

/** Every event type that the service records, each once. */
export const catalogue = eventCatalogue(Object.assign({}, ...features.map(({ events }) => events)))

export const sealedColumns = features.flatMap(({ sealedColumns = [] }) => sealedColumns)

export const purgeRules = features.flatMap(({ purge = [] }) => purge)

export const warmUps = features.flatMap(({ warmUp = [] }) => warmUp)

export const erasures = features.flatMap(({ erase = [] }) => erase)

/** The names of the tables that a backup leaves out. */
export const tablesNotInBackups: ReadonlySet<string> = new Set(
  features.flatMap(({ tables = {} }) =>
    Object.entries(tables).flatMap(([table, rows]) => (rows.isInBackup === false ? [table] : [])),
  ),
)

export const afterRestore: AfterRestore = async (tx, restored) => {
  for (const feature of features) await feature.afterRestore?.(tx, restored)
}
