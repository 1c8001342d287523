import { type CreateTableBuilder, type Kysely, sql } from 'kysely'
import type { Db } from '../infra/db/index.ts'

/**
 * Accounts, messages, events and webhooks. Ids are text, times and counters bigint (SQLite reads it as integer), booleans
 * integer, JSON text: the same on both engines.
 */
export const name = '0001-main-job'

type Column = [name: string, type: 'text' | 'integer' | 'bigint', options?: 'null' | `default ${number}`]

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const table = (title: string, columns: Column[], key: string[], withoutRowid = false) =>
    createTable(db, title, columns, key, withoutRowid && engine === 'sqlite')
  const index = (on: string, columns: string[], options: { unique?: boolean; where?: string } = {}) =>
    createIndex(db, on, columns, options)

  await table(
    'serviceState',
    [
      ['name', 'text'],
      ['value', 'text'],
    ],
    ['name'],
  )
  await table(
    'instances',
    [
      ['id', 'text'],
      ['heartbeatAt', 'bigint'],
      ['startedAt', 'bigint'],
    ],
    ['id'],
  )

  await table(
    'jobs',
    [
      ['lane', 'text'],
      ['subject', 'text'],
      ['state', 'text'],
      ['runAt', 'bigint'],
      ['again', 'integer', 'default 0'],
      ['attempts', 'integer', 'default 0'],
      ['leaseUntil', 'bigint', 'null'],
      ['lease', 'text', 'null'],
      ['instanceId', 'text', 'null'],
      ['lastRunAt', 'bigint', 'null'],
      ['lastError', 'text', 'null'],
      ['completed', 'bigint', 'default 0'],
      ['failed', 'bigint', 'default 0'],
    ],
    ['lane', 'subject'],
  )
  await index('jobs', ['lane', 'runAt'], { where: `"state" = 'waiting'` })
  await index('jobs', ['leaseUntil'], { where: `"state" = 'active'` })
  await table(
    'jobLanes',
    [
      ['lane', 'text'],
      ['paused', 'integer', 'default 0'],
      ['completed', 'bigint', 'default 0'],
      ['failed', 'bigint', 'default 0'],
    ],
    ['lane'],
  )

  await table(
    'idempotencyKeys',
    [
      ['id', 'text'],
      ['bodyHash', 'text'],
      ['state', 'text'],
      ['leaseUntil', 'bigint'],
      ['token', 'text'],
      ['status', 'integer', 'null'],
      ['answer', 'text', 'null'],
      ['expiresAt', 'bigint'],
    ],
    ['id'],
  )
  await index('idempotencyKeys', ['expiresAt'])

  await table(
    'accounts',
    [
      ['id', 'text'],
      ['email', 'text'],
      ['provider', 'text'],
      ['status', 'text'],
      ['statusReason', 'text', 'null'],
      ['paused', 'integer'],
      ['watch', 'integer'],
      ['customUserId', 'text', 'null'],
      ['providerUser', 'text'],
      ['identity', 'text'],
      ['settings', 'text'],
      ['secrets', 'text'],
      ['tokens', 'text'],
      ['accessVersion', 'bigint', 'default 1'],
      ['trouble', 'text', 'null'],
      ['lastSyncAt', 'bigint', 'null'],
      ['ownerInstance', 'text', 'null'],
      ['epoch', 'bigint', 'default 0'],
      ['version', 'bigint', 'default 1'],
      ['createdAt', 'bigint'],
      ['updatedAt', 'bigint'],
    ],
    ['id'],
  )
  await index('accounts', ['identity'], { unique: true })
  await index('accounts', ['customUserId'], { where: '"customUserId" is not null' })
  await index('accounts', ['ownerInstance'])
  await table(
    'accountErasures',
    [
      ['accountId', 'text'],
      ['requestedAt', 'bigint'],
    ],
    ['accountId'],
  )

  await table(
    'authSessions',
    [
      ['id', 'text'],
      ['codeHash', 'text'],
      ['status', 'text'],
      ['provider', 'text', 'null'],
      ['providerFixed', 'integer', 'default 0'],
      ['email', 'text', 'null'],
      ['customUserId', 'text', 'null'],
      ['redirectUri', 'text'],
      ['forceConsent', 'integer'],
      ['jsonStateHash', 'text', 'null'],
      ['attempts', 'integer', 'default 0'],
      ['accountId', 'text', 'null'],
      ['failureCode', 'text', 'null'],
      ['expiresAt', 'bigint'],
      ['createdAt', 'bigint'],
      ['updatedAt', 'bigint'],
    ],
    ['id'],
  )
  await index('authSessions', ['codeHash'], { unique: true })
  await index('authSessions', ['expiresAt'])

  await table(
    'labels',
    [
      ['id', 'text'],
      ['accountId', 'text'],
      ['providerId', 'text'],
      ['name', 'text'],
      ['displayName', 'text'],
      ['type', 'text'],
      ['role', 'text', 'null'],
      ['delimiter', 'text', 'null'],
      ['mailboxId', 'text', 'null'],
      ['selectable', 'integer'],
      ['syncedAs', 'text', 'null'],
      ['color', 'text', 'null'],
      ['version', 'bigint', 'default 0'],
      ['createdAt', 'bigint'],
      ['updatedAt', 'bigint'],
    ],
    ['id'],
  )
  await index('labels', ['accountId', 'providerId'], { unique: true })

  await table(
    'messages',
    [
      ['id', 'text'],
      ['accountId', 'text'],
      ['providerMessageId', 'text'],
      ['threadId', 'text', 'null'],
      ['folderId', 'text', 'null'],
      ['uidValidity', 'text', 'null'],
      ['uid', 'bigint', 'null'],
      ['emailIdHash', 'text', 'null'],
      ['identityHash', 'text', 'null'],
      ['headerHash', 'text'],
      ['subject', 'text'],
      ['receivedAt', 'bigint'],
      ['unread', 'integer'],
      ['starred', 'integer'],
      ['hasAttachments', 'integer'],
      ['sizeBytes', 'bigint'],
      ['snippet', 'text'],
      ['text', 'text'],
      ['fields', 'text'],
      ['error', 'text', 'null'],
      ['goneAt', 'bigint', 'null'],
      ['version', 'bigint', 'default 1'],
      ['createdAt', 'bigint'],
      ['updatedAt', 'bigint'],
    ],
    ['id'],
  )
  await index('messages', ['folderId', 'uidValidity', 'uid'], { unique: true, where: '"uid" is not null' })
  await index('messages', ['folderId', 'id'], { where: '"uid" is null' })
  await index('messages', ['accountId', 'receivedAt', 'id'])
  await index('messages', ['accountId', 'emailIdHash'], { where: '"emailIdHash" is not null' })
  await index('messages', ['accountId', 'identityHash'], { where: '"identityHash" is not null' })
  await index('messages', ['accountId', 'headerHash'])
  await index('messages', ['accountId', 'goneAt'], { where: '"goneAt" is not null' })
  await table(
    'messageBodies',
    [
      ['messageId', 'text'],
      ['accountId', 'text'],
      ['body', 'text', 'null'],
      ['attempts', 'integer', 'default 0'],
    ],
    ['messageId'],
  )
  await index('messageBodies', ['accountId', 'attempts', 'messageId'], { where: '"body" is null' })
  await table(
    'messageLabels',
    [
      ['labelId', 'text'],
      ['receivedAt', 'bigint'],
      ['messageId', 'text'],
      ['unread', 'integer'],
      ['hasAttachments', 'integer'],
    ],
    ['labelId', 'receivedAt', 'messageId'],
    true,
  )
  await index('messageLabels', ['labelId', 'receivedAt', 'messageId', 'hasAttachments'], { where: '"unread" = 1' })
  await index('messageLabels', ['labelId', 'receivedAt', 'messageId', 'unread'], { where: '"hasAttachments" = 1' })
  await index('messageLabels', ['messageId'])
  await table(
    'messageCounters',
    [
      ['accountId', 'text'],
      ['labelId', 'text'],
      ['total', 'bigint'],
      ['unread', 'bigint'],
    ],
    ['accountId', 'labelId'],
    true,
  )
  await table(
    'syncCursors',
    [
      ['accountId', 'text'],
      ['labelId', 'text'],
      ['cursor', 'text', 'null'],
      ['uidValidity', 'text', 'null'],
      ['announceAfter', 'bigint', 'null'],
      ['lastSyncAt', 'bigint', 'null'],
    ],
    ['accountId', 'labelId'],
  )

  await table(
    'events',
    [
      ['id', 'text'],
      ['type', 'text'],
      ['accountId', 'text', 'null'],
      ['provider', 'text', 'null'],
      ['sequence', 'bigint', 'null'],
      ['objectId', 'text', 'null'],
      ['version', 'bigint', 'null'],
      ['data', 'text'],
      ['position', 'bigint', 'null'],
      ['fanOut', 'integer', 'default 1'],
      ['createdAt', 'bigint'],
    ],
    ['id'],
  )
  await index('events', ['id'], { where: '"position" is null' })
  await index('events', ['position'], { unique: true, where: '"position" is not null' })
  await index('events', ['accountId', 'position'])
  await index('events', ['createdAt'])
  await table(
    'eventSequences',
    [
      ['accountId', 'text'],
      ['sequence', 'bigint'],
    ],
    ['accountId'],
  )
  await table(
    'eventPosition',
    [
      ['id', 'integer'],
      ['position', 'bigint'],
    ],
    ['id'],
  )
  await sql`insert into "eventPosition" ("id", "position") values (1, 0)`.execute(db)

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
  await sql`insert into "webhookDeliveryCount" ("id", "total") values (1, 0)`.execute(db)
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

async function createTable(
  db: Kysely<unknown>,
  title: string,
  columns: Column[],
  key: string[],
  withoutRowid: boolean,
): Promise<void> {
  let builder: CreateTableBuilder<string, string> = db.schema.createTable(title)
  for (const [column, type, options] of columns) {
    builder = builder.addColumn(column, type, (definition) => {
      if (options === 'null') return definition
      return options === undefined
        ? definition.notNull()
        : definition.notNull().defaultTo(Number(options.slice('default '.length)))
    })
  }
  builder = builder.addPrimaryKeyConstraint(`${title}_key`, key)
  await (withoutRowid ? builder.modifyEnd(sql`without rowid`) : builder).execute()
}

async function createIndex(
  db: Kysely<unknown>,
  on: string,
  columns: string[],
  options: { unique?: boolean; where?: string },
): Promise<void> {
  const title = [on, ...columns, ...(options.where === undefined ? [] : ['partial'])].join('_')
  const unique = options.unique ? sql`unique` : sql``
  const where = options.where === undefined ? sql`` : sql.raw(` where ${options.where}`)
  await sql`create ${unique} index ${sql.id(title)} on ${sql.id(on)} (${sql.join(columns.map((column) => sql.id(column)))})${where}`.execute(
    db,
  )
}
