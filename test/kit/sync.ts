import { expect } from 'vitest'
import { catalogue } from '../../src/app/event-catalogue.ts'
import { recorder } from '../../src/events/index.ts'
import { accounts, fence, type OwnershipTiming, ownership } from '../../src/features/accounts/index.ts'
import { bodyFetcher, messageReader } from '../../src/features/messages/index.ts'
import { debouncedQueue } from '../../src/features/sync/debounced-queue.ts'
import { type SyncDeps, sync } from '../../src/features/sync/index.ts'
import { type Bus, memoryBus } from '../../src/infra/bus/index.ts'
import type { Db } from '../../src/infra/db/index.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import type { AddressGuard } from '../../src/infra/net/index.ts'
import { databaseQueue } from '../../src/infra/queue/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { idGenerator } from '../../src/lib/ids.ts'
import { type RingKey, sealer } from '../../src/lib/seal.ts'
import type { MailProvider, ProviderName } from '../../src/providers/contract/index.ts'
import { type ImapLimits, imapProvider } from '../../src/providers/imap/index.ts'
import type { Dovecot } from '../servers/dovecot.ts'
import { imapLink } from './accounts.ts'
import { eventually } from './eventually.ts'
import { pausableQueue } from './pausable-queue.ts'

/** Fixed, so that a second process on the same database opens the same credentials. */
const RING: RingKey[] = [{ id: 'k1', key: Buffer.alloc(32, 7) }]

export interface SyncServiceOptions {
  instanceId?: string
  settings?: Partial<SyncDeps['settings']>
  timing?: SyncDeps['timing']
  imap?: Partial<ImapLimits>
  owning?: Partial<OwnershipTiming>
  log?: SyncDeps['log']
  /** Replaces the IMAP provider, for example by a `MailboxDouble`. */
  mail?: MailProvider
  /** Replaces the in-memory bus; closed with the service. */
  bus?: Bus
  /** The setting `sync.storeBodies`. */
  storeBodies?: boolean
}

/** The parts of the service that sync mailboxes, on a database, with the IMAP provider or `options.mail`. */
export function syncService(db: Db, options: SyncServiceOptions = {}) {
  const clock = systemClock
  const ids = idGenerator(clock)
  const log = options.log ?? silentLog
  const bus = options.bus ?? memoryBus({ log })
  const instanceId = options.instanceId ?? ids('ins')
  const backoff = { baseMs: 100, capMs: 1000 }
  const queue = pausableQueue(databaseQueue({ db, bus, clock, ids, log, instanceId, backoff }))
  const events = recorder({ catalogue, clock, ids, bus })
  const imap = imapProvider({ guard: anyAddress, clock, ...(options.imap && { limits: options.imap }) })
  const linked = accounts({ db, clock, ids, bus, sealer: sealer(RING), events, log, onRemove: async () => {} })
  const owning = ownership({
    ...{ db, bus, clock, log, instanceId },
    onInstanceDead: (dead) => queue.releaseInstance(dead),
    timing: { hintGapMs: 10, ...options.owning },
  })
  const mail = () => options.mail ?? imap.mail
  const bodies = bodyFetcher({ db, queue, log, accounts: linked, mail })
  const engine = sync({
    ...{ db, bus, accounts: linked, ownership: owning, fence, events, mail, clock, ids, log },
    ...(options.storeBodies && { requestBodies: bodies.request }),
    settings: { initialMessages: 500, folders: [], includeBodies: false, ...options.settings },
    timing: { retry: { baseMs: 100, capMs: 1000 }, ...options.timing },
  })
  return {
    accounts: linked,
    queue,
    ownership: owning,
    reader: messageReader({ db, accounts: linked, mail, clock, ids }),
    sync: engine,
    /** As `POST /debounced-queue/clear` does. */
    clear: () => debouncedQueue({ db, bus, instanceId, accounts: linked, sync: engine }).clear(),
    /** Requests a sync and waits until a run has served it. */
    async synced(accountId: string): Promise<void> {
      await db.transaction((tx) => linked.requestSync(tx, [accountId], 'everything'))
      await eventually(async () => expect(await requestOf(db, accountId)).toBeNull())
    },
    wake: (accountId: string) => db.transaction((tx) => linked.requestSync(tx, [accountId], 'everything')),
    async start() {
      engine.start()
      if (options.storeBodies) await bodies.start()
      await owning.start()
    },
    async stop() {
      await Promise.all([engine.stop(2000), bodies.stop(2000)])
      await owning.stop()
      await imap.mail.closeConnections()
      await queue.close()
      await bus.close()
    },
    /** Links a mailbox of this provider. */
    async linkMailbox(provider: ProviderName, user = 'ada') {
      const input = { provider, email: `${user}@example.com`, customUserId: null, providerUser: user }
      const { id } = await db.transaction((tx) => linked.link(tx, { ...input, settings: {}, secrets: {} }))
      return id
    },
    /** Links a mailbox of the test server. */
    async link(server: Pick<Dovecot, 'host' | 'imapsPort'>, user: string, password: string, mailbox = 'INBOX') {
      const { id } = await db.transaction((tx) =>
        linked.link(
          tx,
          imapLink({
            email: user,
            providerUser: JSON.stringify([server.host, user, mailbox]),
            settings: {
              imap: {
                host: server.host,
                port: server.imapsPort,
                username: user,
                security: 'tls',
                allowSelfSigned: true,
                mailbox,
              },
            },
            secrets: { password },
          }),
        ),
      )
      return id
    },
  }
}

export type SyncService = ReturnType<typeof syncService>

async function requestOf(db: Db, accountId: string): Promise<number | null> {
  const row = await db.read
    .selectFrom('accounts')
    .select('syncRequestedAt')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  return row.syncRequestedAt
}

const anyAddress: AddressGuard = {
  check: async (target) => ({ ...target, address: target.host, family: 4 }),
  allowsPlain: () => true,
}
