import type { OwnershipTiming } from '../../../src/accounts/cluster/index.ts'
import { debouncedQueue } from '../../../src/mail/sync/debounced-queue.ts'
import type { SyncDeps } from '../../../src/mail/sync/index.ts'
import { type Bus, memoryBus } from '../../../src/platform/bus/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import type { AddressGuard } from '../../../src/platform/net/index.ts'
import { databaseQueue } from '../../../src/platform/queue/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import type { MailProvider, ProviderName, TokenSet } from '../../../src/providers/contract/index.ts'
import type { ImapLimits } from '../../../src/providers/imap/index.ts'
import type { Dovecot } from '../../servers/dovecot.ts'
import { imapLink } from '../accounts/accounts.ts'
import { eventually } from '../eventually.ts'
import { compose } from '../service/composition.ts'
import { pausableQueue } from '../service/pausable-queue.ts'

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

/** The sync of the app on a database, with the IMAP provider or `options.mail`. */
export function syncService(db: Db, options: SyncServiceOptions = {}) {
  const { log = silentLog, settings = {}, storeBodies = false } = options
  const ids = idGenerator(systemClock)
  const instanceId = options.instanceId ?? ids('ins')
  const bus = options.bus ?? memoryBus({ log })
  const backoff = { baseMs: 100, capMs: 1000 }
  const queue = pausableQueue(databaseQueue({ db, bus, clock: systemClock, ids, log, instanceId, backoff }))
  const { features, close } = compose(db, {
    instanceId,
    log,
    bus,
    queue,
    guard: anyAddress,
    settings: {
      syncInitialMessages: settings.initialMessages ?? 500,
      syncFolders: [...(settings.folders ?? [])],
      webhookIncludeBodies: settings.includeBodies ?? false,
      syncStoreBodies: storeBodies,
    },
    features: {
      ownership: { hintGapMs: 10, ...options.owning },
      sync: {
        retry: backoff,
        itemRetry: backoff,
        folderMoveGraceMs: 0,
        // No attempt follows the one that confirms a refusal.
        refusal: { confirmMs: 100, retry: { baseMs: 1_000_000, capMs: 1_000_000 } },
        ...options.timing,
      },
      backfill: { sweepMs: 200 },
      ...(options.imap && { imapLimits: options.imap }),
      ...(options.mail && { mail: options.mail }),
    },
  })
  const { accounts, backfill, bounces, changer, drafts, idempotency, labels, ownership, reader, sync, bodies } =
    features
  return {
    accounts,
    backfill,
    bounces,
    changer,
    drafts,
    idempotency,
    labels,
    queue,
    ownership,
    reader,
    sync,
    /** As `POST /debounced-queue/clear` does. */
    clear: () => debouncedQueue({ db, bus, instanceId, accounts, sync }).clear(),
    /** Requests a sync and waits until a run has served it. */
    async synced(accountId: string): Promise<void> {
      await db.transaction((tx) => accounts.requestSync(tx, [accountId], 'everything'))
      await eventually(async () => (await readRequest(db, accountId)) === null)
    },
    wake: (accountId: string) => db.transaction((tx) => accounts.requestSync(tx, [accountId], 'everything')),
    /** As `POST /accounts/{id}/sync` does. */
    requestNow: (accountId: string) => db.transaction((tx) => accounts.requestSync(tx, [accountId], 'now')),
    async start() {
      sync.start()
      if (storeBodies) await bodies.start()
      await ownership.start()
    },
    stop: () => close(2000),
    /** Links a mailbox of this provider. */
    async linkMailbox(provider: ProviderName, user = 'ada', tokens?: TokenSet) {
      const input = { provider, email: `${user}@example.com`, customUserId: null, providerUser: user }
      const access = { settings: {}, secrets: {}, ...(tokens && { tokens }) }
      const { id } = await db.transaction((tx) => accounts.link(tx, { ...input, ...access }))
      return id
    },
    /** Links a mailbox of the test server. */
    async link(server: Pick<Dovecot, 'host' | 'imapsPort'>, user: string, password: string, mailbox = 'INBOX') {
      const { id } = await db.transaction((tx) =>
        accounts.link(
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

async function readRequest(db: Db, accountId: string): Promise<number | null> {
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
