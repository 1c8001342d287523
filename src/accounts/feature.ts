import type { Feature } from '../feature.ts'
import { DAY_MS } from '../platform/calendar/days.ts'
import { releaseAccounts } from './after-restore.ts'
import { accountEvents } from './events.ts'
import { eraseApiChanges } from './mailbox/change-numbers.ts'
import { SEALED_CONNECTION_TOKENS, SEALED_CONNECTIONS } from './tenants/secrets.ts'
import { purgeTokens } from './tenants/token-store.ts'
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
    connections: { deletedBy: 'the request that deletes the connection' },
    connectionTokens: { deletedBy: ['purge'], isInBackup: false },
    apiChanges: { deletedBy: ['erase'] },
    instances: { deletedBy: 'the instance when it stops, or others when it is dead', isInBackup: false },
  },
  events: accountEvents,
  purge: [{ rows: 'access tokens of connections', purge: purgeTokens, keptFor: DAY_MS }],
  erase: [eraseApiChanges],
  sealedColumns: [SEALED_ACCOUNTS, SEALED_CONNECTIONS, SEALED_REVOCATIONS, SEALED_CONNECTION_TOKENS],
  afterRestore: releaseAccounts,
} as const satisfies Feature
