import { type Static, Type } from 'typebox'
import { nullable } from '../../infra/http/index.ts'
import { entry } from './entry.ts'
import { ACCOUNT, provider } from './parts.ts'

/** What the API's account and the account's events have in common. */
export const accountFacts = {
  id: Type.String({ examples: ['acc_01k9zv3h5q8m2n4p6r7s8t9vwx'] }),
  email: Type.String(),
  provider,
  status: Type.Enum(['connecting', 'syncing', 'connected', 'auth_error', 'error', 'paused']),
  customUserId: nullable(Type.String({ description: "The application's own name for the user." })),
}

const accountEventData = Type.Object(
  { ...accountFacts, reason: nullable(Type.String({ description: 'What went wrong, for people.' })) },
  { title: 'AccountEventData' },
)

const { id, customUserId } = accountFacts
const accountDeleted = Type.Object({ id, provider, customUserId }, { title: 'AccountDeletedData' })

const ADA: Static<typeof accountEventData> = {
  id: ACCOUNT.accountId,
  provider: ACCOUNT.provider,
  email: 'ada@acme.example',
  customUserId: 'user-4711',
  status: 'connected',
  reason: null,
}

const of = (version: number, changes: Partial<typeof ADA> = {}) => ({
  ...ACCOUNT,
  objectId: ACCOUNT.accountId,
  version,
  data: { ...ADA, ...changes },
})

export const accountEvents = {
  'account.connected': entry(
    'A mailbox was connected; its mail is about to be synchronised.',
    accountEventData,
    of(1, { status: 'connecting' }),
  ),
  'account.updated': entry(
    'An account got new credentials, another customUserId, or is watched otherwise.',
    accountEventData,
    of(2),
  ),
  'account.auth_error': entry(
    'The provider refuses the credentials: the user must connect the mailbox again.',
    accountEventData,
    of(3, { status: 'auth_error', reason: 'The mail server does not accept the user name or the password.' }),
  ),
  'account.sync_stalled': entry(
    'The mailbox cannot be synchronised for now; it is tried again by itself.',
    accountEventData,
    of(4, { status: 'error', reason: 'The mail server cannot be reached.' }),
  ),
  'account.recovered': entry(
    'After `account.auth_error` or `account.sync_stalled` the mailbox is synchronised again.',
    accountEventData,
    of(5),
  ),
  'account.paused': entry('An account was paused.', accountEventData, of(6, { status: 'paused' })),
  'account.resumed': entry('A paused account goes on.', accountEventData, of(7, { status: 'connecting' })),
  'account.deleted': entry(
    'An account was deleted; its data is erased, and this is the last event of it.',
    accountDeleted,
    {
      ...ACCOUNT,
      objectId: ACCOUNT.accountId,
      version: 8,
      data: { id: ADA.id, provider: ADA.provider, customUserId: ADA.customUserId },
    },
  ),
}
