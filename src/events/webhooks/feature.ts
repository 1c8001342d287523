import type { Feature } from '../../feature.ts'
import { releaseDeliveries } from './after-restore.ts'
import { eraseDeliveries, purgeDeliveries } from './deliveries/erasure.ts'
import { SEALED_ENDPOINTS } from './endpoints/endpoint.ts'
import { webhookEvents } from './events.ts'

export const webhooksFeature = {
  name: 'webhooks',
  tables: {
    webhookEndpoints: { deletedBy: 'the request that deletes the endpoint' },
    webhookDeliveries: { deletedBy: ['purge', 'erase'] },
    webhookAttempts: { deletedBy: ['purge', 'erase'] },
    webhookDeliveryCount: { deletedBy: 'nothing: it has one row' },
  },
  events: webhookEvents,
  purge: [{ rows: 'deliveries', purge: purgeDeliveries, keptFor: 'retentionDeliveriesDays' }],
  erase: [eraseDeliveries],
  sealedColumns: SEALED_ENDPOINTS,
  afterRestore: releaseDeliveries,
} as const satisfies Feature
