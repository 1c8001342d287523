import type { Feature } from '../feature.ts'
import { releaseAccounts } from './after-restore.ts'
import { accountEvents } from './events.ts'
import { eraseApiChanges } from './mailbox/api-changes.ts'
import { SEALED_ACCOUNTS } from './tokens/account-secrets.ts'
import { SEALED_REVOCATIONS } from './tokens/revocation.ts'

export const accountsFeature = {
  name: 'accounts',
  tables: {
    accounts: { deletedBy: 'the request that deletes the account' },
    accountErasures: {
      deletedBy: 'the erasure, when nothing else is left of the account',
      outlivesAccount: 'It says which accounts still have to be erased.',
    },
    apiChanges: { deletedBy: ['erase'] },
    instances: { deletedBy: 'the instance when it stops, or others when it is dead', isInBackup: false },
  },
  events: accountEvents,
  erase: [eraseApiChanges],
  sealedColumns: [SEALED_ACCOUNTS, SEALED_REVOCATIONS],
  afterRestore: releaseAccounts,
} as const satisfies Feature
