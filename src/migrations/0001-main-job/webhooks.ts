import { sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Webhook endpoints, their deliveries and attempts. */
export async function webhooks({ table, index, run }: Schema): Promise<void> {
  await table(
    'webhookEndpoints',
    [
      ['id', 'text'],
      ['url', 'text'],
      ['secrets', 'text', 'null'],
      ['eventTypes', 'text'],
      ['headers', 'text', 'null'],
      ['isActive', 'integer'],
      ['retryCount', 'integer'],
      ['retryDelayMs', 'bigint'],
      ['retryStrategy', 'text'],
      ['timeoutMs', 'bigint'],
      ['lastDeliveryAt', 'bigint', 'null'],
      ['createdAt', 'bigint'],
      ['updatedAt', 'bigint'],
    ],
    ['id'],
  )
  await table(
    'webhookDeliveries',
    [
      ['id', 'text'],
      ['endpointId', 'text'],
      ['eventId', 'text'],
      ['eventType', 'text'],
      ['accountId', 'text', 'null'],
      ['status', 'text'],
      ['trigger', 'text'],
      ['test', 'integer', 'default 0'],
      ['attempt', 'integer', 'default 0'],
      ['maxAttempts', 'integer'],
      ['nextAttemptAt', 'bigint', 'null'],
      ['leasedUntil', 'bigint', 'null'],
      ['lease', 'text', 'null'],
      ['url', 'text'],
      ['createdAt', 'bigint'],
    ],
    ['id'],
  )
  await index('webhookDeliveries', ['endpointId', 'nextAttemptAt', 'id'], { where: '"nextAttemptAt" is not null' })
  await index('webhookDeliveries', ['endpointId', 'id'])
  await index('webhookDeliveries', ['accountId', 'id'], { where: '"accountId" is not null' })
  await index('webhookDeliveries', ['eventType', 'id'])
  await index('webhookDeliveries', ['status', 'id'], { where: `"status" <> 'success'` })
  await table(
    'webhookDeliveryCount',
    [
      ['id', 'integer'],
      ['total', 'bigint'],
    ],
    ['id'],
  )
  await run(sql`insert into "webhookDeliveryCount" ("id", "total") values (1, 0)`)
  await table(
    'webhookAttempts',
    [
      ['deliveryId', 'text'],
      ['attempt', 'integer'],
      ['startedAt', 'bigint'],
      ['durationMs', 'bigint'],
      ['responseStatus', 'integer', 'null'],
      ['responseBody', 'text', 'null'],
      ['errorKind', 'text', 'null'],
      ['errorMessage', 'text', 'null'],
      ['signatures', 'integer'],
      ['headerNames', 'text', 'null'],
    ],
    ['deliveryId', 'attempt'],
    true,
  )
}
