import type { AccountsDeps } from '../../../src/accounts/identity/service.ts'
import { accounts, type LinkAccount } from '../../../src/accounts/index.ts'
import { catalogue } from '../../../src/app/feature-list.ts'
import { recorder } from '../../../src/events/index.ts'
import { memoryBus } from '../../../src/platform/bus/index.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../../src/platform/crypto/seal.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'

/** The accounts feature on a database, with its dependencies. */
export function testAccounts(db: Db, overrides: Partial<AccountsDeps> = {}) {
  const clock = systemClock
  const ids = idGenerator(clock)
  const bus = overrides.bus ?? memoryBus({ log: silentLog })
  const service = accounts({
    db,
    clock,
    ids,
    bus,
    sealer: sealer(parseKeyRing(generateKeyRing())),
    events: recorder({ catalogue, clock, ids, bus }),
    log: silentLog,
    onRemove: async () => {},
    connectionTokens: {
      endPause: () => {},
      accessToken: () => Promise.reject(new Error('no account of this test has a connection')),
    },
    ...overrides,
  })
  return {
    bus,
    accounts: service,
    link: (over: Partial<LinkAccount> = {}) => db.transaction((tx) => service.link(tx, imapLink(over))),
    /** All events of the account in sequence order. */
    async events(accountId: string) {
      const rows = await db.read
        .selectFrom('events')
        .selectAll()
        .where('accountId', '=', accountId)
        .orderBy('sequence')
        .execute()
      return rows.map(({ type, version, data }) => ({ type, version, data: JSON.parse(data) }))
    },
  }
}

export function imapLink(over: Partial<LinkAccount> = {}): LinkAccount {
  return {
    provider: 'imap',
    email: 'ada@example.com',
    customUserId: null,
    providerUser: JSON.stringify(['imap.example.com', 'ada', 'INBOX']),
    settings: {
      imap: {
        host: 'imap.example.com',
        port: 993,
        username: 'ada',
        security: 'tls',
        allowSelfSigned: false,
        mailbox: 'INBOX',
      },
    },
    secrets: { password: 'first' },
    ...over,
  }
}

/** The mailbox of the named user, otherwise like `imapLink`. */
export function imapUser(name: string): Partial<LinkAccount> {
  return { email: `${name}@example.com`, providerUser: JSON.stringify(['imap.example.com', name, 'INBOX']) }
}
