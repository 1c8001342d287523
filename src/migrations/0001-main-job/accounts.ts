import type { Schema } from './schema.ts'

/** Accounts, pending erasures of deleted accounts, and the sessions that connect accounts. */
export async function accounts({ table, index }: Schema): Promise<void> {
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
}
