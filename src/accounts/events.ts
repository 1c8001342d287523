import type { Static } from 'typebox'
import * as Type from 'typebox'
import { declareEvent, EXAMPLE_ACCOUNT, providerSchema } from '../events/index.ts'
import { nullable } from '../platform/formats/json-schema.ts'

/** Members of both the account in the API and its events. */
export const accountFields = {
  id: Type.String({ examples: ['acc_01k9zv3h5q8m2n4p6r7s8t9vwx'] }),
  email: Type.String(),
  provider: providerSchema,
  status: Type.Enum(['connecting', 'syncing', 'connected', 'auth_error', 'error', 'paused']),
  customUserId: nullable(Type.String({ description: "The application's identifier for the user." })),
}

const accountEventData = Type.Object(
  { ...accountFields, reason: nullable(Type.String({ description: 'Human-readable description of the problem.' })) },
  { title: 'AccountEventData' },
)

const { id, provider, customUserId } = accountFields
const accountDeleted = Type.Object({ id, provider, customUserId }, { title: 'AccountDeletedData' })

const ADA: Static<typeof accountEventData> = {
  id: EXAMPLE_ACCOUNT.accountId,
  provider: EXAMPLE_ACCOUNT.provider,
  email: 'ada@acme.example',
  customUserId: 'user-4711',
  status: 'connected',
  reason: null,
}

const of = (version: number, changes: Partial<typeof ADA> = {}) => ({
  ...EXAMPLE_ACCOUNT,
  objectId: EXAMPLE_ACCOUNT.accountId,
  version,
  data: { ...ADA, ...changes },
})

export const accountEvents = {
  'account.connected': declareEvent(
    'A mailbox was connected. Its first sync starts now.',
    accountEventData,
    of(1, { status: 'connecting' }),
  ),
  'account.updated': declareEvent(
    'The credentials, `customUserId` or `watch` of an account changed.',
    accountEventData,
    of(2),
  ),
  'account.auth_error': declareEvent(
    'The provider rejected the credentials. The user must connect the mailbox again.',
    accountEventData,
    of(3, { status: 'auth_error', reason: 'The mail server rejected the username or password.' }),
  ),
  'account.sync_stalled': declareEvent(
    'The mailbox is not synced at the moment: several checks in a row failed, or none succeeded for three poll intervals. The service goes on trying.',
    accountEventData,
    of(4, { status: 'error', reason: 'Cannot reach the mail server.' }),
  ),
  'account.recovered': declareEvent(
    'The mailbox syncs again after `account.auth_error` or `account.sync_stalled`.',
    accountEventData,
    of(5),
  ),
  'account.paused': declareEvent('An account was paused.', accountEventData, of(6, { status: 'paused' })),
  'account.resumed': declareEvent('A paused account was resumed.', accountEventData, of(7, { status: 'connecting' })),
  'account.deleted': declareEvent(
    'An account was deleted and its data is being erased. It is the last event of the account.',
    accountDeleted,
    {
      ...EXAMPLE_ACCOUNT,
      objectId: EXAMPLE_ACCOUNT.accountId,
      version: 8,
      data: { id: ADA.id, provider: ADA.provider, customUserId: ADA.customUserId },
    },
  ),
}
