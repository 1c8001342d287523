import type { Schema } from './schema.ts'

/** Folders, messages and sync cursors. */
export async function messages({ table, index }: Schema): Promise<void> {
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
}
