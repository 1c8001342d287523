import type { Recorder } from '../../events/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { buildPage, pageRequest } from '../../platform/formats/page.ts'
import { cleanText, truncateText } from '../../platform/formats/text.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { LoginProvider, ProviderName } from '../../providers/contract/index.ts'
import { syncRequests } from '../mailbox/sync-requests.ts'
import { linkedSecrets, openSecrets, sealSecrets, tokenSummary } from '../tokens/account-secrets.ts'
import { sealRevocation } from '../tokens/revocation.ts'
import { tokens as createTokens, type TokensDeps, type TokenTiming } from '../tokens/tokens.ts'
import { ACCOUNTS_TOPIC, type Accounts, type LicenceCheck, type LinkAccount, type WorkStatus } from './account.ts'
import {
  type AccountEventType,
  accountEvent,
  buildSearchText,
  deletedEvent,
  hashIdentity,
  mailHostOf,
  toAccount,
} from './account-row.ts'
import { listAccounts } from './list.ts'
import { accountQueries } from './queries.ts'
import { type AccountRow, accountStore, resolveAccount } from './store.ts'

export interface AccountsDeps {
  db: Db
  clock: Clock
  ids: Ids
  bus: Bus
  sealer: Sealer
  events: Recorder
  log: Log
  /** The OAuth login of a provider. Undefined for imap, and for a provider that is not configured. */
  login?(provider: ProviderName): LoginProvider | undefined
  tokenTiming?: Partial<TokenTiming>
  /** Called after each refresh of tokens, for the metrics. */
  onRefresh?: TokensDeps['onRefresh']
  /** Default: no cap. */
  licence?: LicenceCheck
  /** Called after this process has linked an account, new or again, so that it syncs at once. */
  onLinked?(accountId: string): void
  /** Runs in the transaction that deletes an account: requests its erasure. */
  onRemove(tx: Tx, accountId: string): Promise<void>
}

/** The log entry of each change of an account. */
const LOGGED = {
  'account.connected': { operation: 'accounts.connect', message: 'An account was connected.' },
  'account.updated': { operation: 'accounts.update', message: 'An account was changed.' },
  'account.paused': { operation: 'accounts.pause', message: 'An account was paused.' },
  'account.resumed': { operation: 'accounts.resume', message: 'An account was resumed.' },
  'account.recovered': { operation: 'accounts.recover', message: 'An account syncs again.' },
  'account.deleted': { operation: 'accounts.delete', message: 'An account was deleted; its data is erased.' },
} as const satisfies Record<string, { operation: string; message: string }>
type ChangeEventType = Exclude<keyof typeof LOGGED, 'account.deleted'>

const MAX_REASON = 500
const LIST = '/accounts'

export function accounts(deps: AccountsDeps): Accounts {
  const { db, clock, sealer, events } = deps
  const store = (tx: Tx) => accountStore(tx, db.dialect)
  const reader = accountStore(db.read, db.dialect)
  const requests = syncRequests(deps)

  /** Records the event and notifies the account's owner after the commit. */
  async function record(tx: Tx, type: ChangeEventType, row: AccountRow): Promise<void> {
    await events.record(tx, [accountEvent(type, row)])
    announce(tx, row.id)
    logChange(tx, type, row)
  }

  function logChange(tx: Tx, type: keyof typeof LOGGED, { id: accountId, provider, watch }: AccountRow): void {
    const { operation, message } = LOGGED[type]
    tx.afterCommit(() => deps.log.info(message, { accountId, provider, operation, metadata: { watch: watch === 1 } }))
  }

  function announce(tx: Tx, accountId: string): void {
    tx.afterCommit(() => deps.bus.publish(ACCOUNTS_TOPIC, accountId))
  }

  /** The columns that new credentials set, in a new and in an existing row. */
  function accessColumns(accountId: string, input: LinkAccount, row?: AccountRow) {
    const email = cleanText(input.email)
    const { customUserId } = row ?? input
    // A stored refresh token of an account in auth_error was rejected; a new consent gets another one.
    const kept = row === undefined || row.status === 'auth_error' ? undefined : openSecrets(sealer, row)
    const secrets = linkedSecrets(input, kept, clock.now())
    return {
      email,
      searchText: buildSearchText({ email, customUserId }),
      status: 'connecting' as const,
      statusReason: null,
      settings: JSON.stringify(input.settings),
      mailHost: mailHostOf(input),
      secrets: sealSecrets(sealer, accountId, secrets),
      tokens: JSON.stringify(tokenSummary(secrets.oauth, input.tokens?.scopes ?? [])),
      tokenLease: null,
      tokenLeaseUntil: null,
    }
  }

  async function relink(tx: Tx, row: AccountRow, input: LinkAccount) {
    const changes = { ...accessColumns(row.id, input, row), accessVersion: row.accessVersion + 1 }
    const changed = await store(tx).change(row.id, changes, clock.now())
    await record(tx, 'account.updated', changed)
    tx.afterCommit(() => deps.onLinked?.(row.id))
    return toAccount(changed)
  }

  async function tryAgain(tx: Tx, accountId: string) {
    const row = await store(tx).lock(accountId)
    const changes = onceMore(row)
    if (row.paused === 1 || changes === undefined) return toAccount(row)
    const changed = await store(tx).change(accountId, changes, clock.now())
    await requests.request(tx, [accountId], 'everything')
    return toAccount(changed)
  }

  async function changeStatus(tx: Tx, row: AccountRow, status: WorkStatus, reason: string | null): Promise<void> {
    const statusReason = reason === null ? null : truncateText(cleanText(reason), MAX_REASON)
    if (row.status === status && row.statusReason === statusReason) return
    const { trouble, eventType } = troubleAfter(row, status)
    const changed = await store(tx).change(row.id, { status, statusReason, trouble }, clock.now())
    if (eventType !== undefined) await events.record(tx, [accountEvent(eventType, changed)])
    // The run that failed reports the other types itself.
    if (eventType === 'account.recovered') logChange(tx, eventType, changed)
  }

  const tokens = createTokens({ ...deps, tryAgain, timing: deps.tokenTiming })

  return {
    async link(tx, request) {
      const input = { ...request, customUserId: cleanAlias(request.customUserId) }
      const identity = hashIdentity(input.provider, input.providerUser, input.customUserId)
      const existing = await store(tx).lockByIdentity(identity)
      if (existing !== undefined) return relink(tx, existing, input)
      try {
        await deps.licence?.check(tx, () => accountQueries(tx).count())
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        // A concurrent link of the same identity may have taken the last account of the licence.
        const existing = await store(tx).lockByIdentity(identity)
        if (existing === undefined) throw error
        return relink(tx, existing, input)
      }
      const id = deps.ids('acc')
      const now = clock.now()
      const created = await store(tx).insert({
        id,
        ...accessColumns(id, input),
        provider: input.provider,
        providerUser: input.providerUser,
        customUserId: input.customUserId,
        identity,
        paused: 0,
        watch: 1,
        trouble: null,
        lastSyncAt: null,
        ownerInstance: null,
        createdAt: now,
        updatedAt: now,
      })
      // A concurrent transaction linked the same identity and committed, so this one updates that row.
      if (created === undefined) return relink(tx, await lockExisting(tx, identity), input)
      await record(tx, 'account.connected', created)
      tx.afterCommit(() => deps.onLinked?.(id))
      return toAccount(created)
    },

    async setStatus(tx, accountId, status, reason, accessVersion) {
      const row = await store(tx).lock(accountId)
      if (accessVersion === undefined || accessVersion === row.accessVersion)
        await changeStatus(tx, row, status, reason)
    },

    async markStalled(tx, accountId, reason) {
      const row = await store(tx).lock(accountId)
      const isKnown = row.status === 'error' && row.statusReason === reason
      if (!isKnown && row.paused === 0 && row.status !== 'auth_error') await changeStatus(tx, row, 'error', reason)
    },

    synced: (tx, accountId) => store(tx).setLastSync(accountId, clock.now()),

    requestSync: requests.request,
    clearSyncRequest: requests.clear,

    async change(tx, accountId, changes) {
      let row = await store(tx).lock(accountId)
      const customUserId = changes.customUserId === undefined ? row.customUserId : cleanAlias(changes.customUserId)
      const watch = Number(changes.watch ?? row.watch)
      if (customUserId !== row.customUserId || watch !== row.watch) {
        const identity = hashIdentity(row.provider, row.providerUser, customUserId)
        const searchText = buildSearchText({ email: row.email, customUserId })
        row = await changeIdentity(tx, accountId, { customUserId, searchText, watch, identity })
        await record(tx, 'account.updated', row)
      }
      const paused = Number(changes.paused ?? row.paused)
      if (paused !== row.paused) {
        row = await store(tx).change(accountId, { paused, ...(paused === 0 && onceMore(row)) }, clock.now())
        await record(tx, paused === 1 ? 'account.paused' : 'account.resumed', row)
      }
      return toAccount(row)
    },

    tryAgain,

    async remove(tx, accountId) {
      const row = await store(tx).lock(accountId)
      await store(tx).remove(accountId, clock.now(), sealRevocation(sealer, row))
      await events.record(tx, [deletedEvent(row)])
      await deps.onRemove(tx, accountId)
      announce(tx, accountId)
      logChange(tx, 'account.deleted', row)
    },

    async hold(tx, accountId) {
      await store(tx).hold(accountId)
    },

    async access(accountId) {
      const row = await reader.get(accountId)
      const { oauth, ...secrets } = openSecrets(sealer, row)
      return {
        accountId,
        email: row.email,
        settings: JSON.parse(row.settings),
        secrets,
        ...(oauth !== undefined && { accessToken: (refused?: string) => tokens.accessToken(accountId, refused) }),
        accessVersion: row.accessVersion,
      }
    },

    endTokenPause: tokens.endPause,

    get: async (accountId) => toAccount(await reader.shown(accountId)),

    async getForSync(accountId) {
      const row = await reader.shown(accountId)
      return { account: toAccount(row), syncRequestedAt: row.syncRequestedAt }
    },

    async findLinked(provider, customUserId, email) {
      if (customUserId === null && email === null) return []
      const rows = await reader.linked(provider, cleanAlias(customUserId), email)
      return rows.map(toAccount)
    },

    async findMailboxes(customUserId, email) {
      const rows = await reader.linked(null, cleanAlias(customUserId), email)
      return rows.map((row) => {
        const { email, tokens } = toAccount(row)
        const { id: accountId, provider, providerUser, settings } = row
        const { smtpPassword, caldavPassword } = openSecrets(sealer, row)
        return {
          accountId,
          provider,
          email,
          providerUser,
          settings: JSON.parse(settings),
          scopes: tokens.scopes,
          ownPasswords: { smtp: smtpPassword !== undefined, caldav: caldavPassword !== undefined },
        }
      })
    },

    async list(query) {
      const q = query.q?.trim() || undefined
      const filter = { q, status: query.status, provider: query.provider }
      const list = [LIST, q, query.status, query.provider]
      const request = pageRequest(query, list, ['text'])
      const { rows, total } = await listAccounts(db, filter, request)
      return buildPage(rows.map(toAccount), request, total, list, (account) => [account.id])
    },

    resolve: resolveAccount,
  }

  async function lockExisting(tx: Tx, identity: string): Promise<AccountRow> {
    const existing = await store(tx).lockByIdentity(identity)
    if (existing === undefined)
      throw new AppError('conflict', { message: 'The account was deleted while it was linked.' })
    return existing
  }

  async function changeIdentity(
    tx: Tx,
    accountId: string,
    changes: Pick<AccountRow, 'customUserId' | 'searchText' | 'watch' | 'identity'>,
  ): Promise<AccountRow> {
    try {
      return await store(tx).change(accountId, changes, clock.now())
    } catch (error) {
      if (db.dialect.isUniqueViolation(error)) throw sameIdentity()
      throw error
    }
  }
}

/** The columns that allow one more attempt after rejected credentials. A person asked for it, so it is no retry loop. */
function onceMore(row: AccountRow) {
  return row.status === 'auth_error' ? { status: 'connecting' as const, statusReason: null } : undefined
}

/** The `trouble` column after this status, and the event to record for the change. */
function troubleAfter(
  row: AccountRow,
  status: WorkStatus,
): { trouble: AccountRow['trouble']; eventType?: AccountEventType } {
  const { trouble } = row
  switch (status) {
    case 'auth_error':
      return trouble === status ? { trouble } : { trouble: status, eventType: 'account.auth_error' }
    case 'error':
      return trouble === status ? { trouble } : { trouble: status, eventType: 'account.sync_stalled' }
    case 'connected':
      return trouble === null ? { trouble } : { trouble: null, eventType: 'account.recovered' }
    default:
      return { trouble }
  }
}

function sameIdentity(): AppError {
  return new AppError('conflict', {
    message: 'Another account of the same mailbox already has this customUserId.',
  })
}

/** The application's user id; null, never empty, without one. */
const cleanAlias = (customUserId: string | null) => cleanText(customUserId ?? '') || null
