import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import {
  type GoogleTenantSettings,
  type MicrosoftTenantSettings,
  ProviderError,
  type TenantCredentials,
} from '../../providers/contract/index.ts'
import type { Accounts } from '../identity/account.ts'
import type { Connection, CreateConnectionBody, UpdateConnectionBody } from './api.ts'
import { parseCredentials, renewCredentials } from './credentials.ts'
import { openCredentials, sealSecrets } from './secrets.ts'
import { connectionStore } from './store.ts'
import type { ConnectionRow } from './tables.ts'
import { connectionTokenStore } from './token-store.ts'
import type { Tenants } from './tokens.ts'

export interface ConnectionsDeps {
  db: Db
  clock: Clock
  ids: Ids
  sealer: Sealer
  tenants: Tenants
  accounts: Pick<Accounts, 'remove'>
  /** Allows one more attempt for accounts of the connection that are in auth_error. */
  retryAccounts(connectionId: string): Promise<void>
}

/** Connections as the API manages them. Secrets are never returned. */
export interface Connections {
  /** Newest first. */
  list(query: PageQuery): Promise<Page<Connection>>
  get(id: string): Promise<Connection>
  /** Requests a token with the credentials. Resolves to what stores the connection. Throws validation_failed for refused ones. */
  create(body: CreateConnectionBody): Promise<(tx: Tx) => Promise<Connection>>
  /** Requests a token with new credentials before they are stored. `record` runs in the transaction of the change. */
  update(id: string, body: UpdateConnectionBody, record: (tx: Tx) => Promise<void>): Promise<Connection>
  /** With `force`, deletes its accounts first, some at a time; after a crash, call it again. Throws conflict while it has accounts. */
  remove(id: string, force: boolean, record: (tx: Tx, row: ConnectionRow) => Promise<void>): Promise<ConnectionRow>
}

const FILTER = ['connections']
/** Bounds how long one transaction of the file store holds the event loop. */
const ACCOUNTS_PER_TRANSACTION = 20

export function connections(deps: ConnectionsDeps): Connections {
  const { db, clock, ids, sealer, tenants } = deps
  const reader = connectionStore(db.read, db.dialect)
  const writer = (tx: Tx) => connectionStore(tx, db.dialect)

  async function describe(rows: readonly ConnectionRow[]): Promise<Connection[]> {
    const counts = await reader.accountCounts(rows.map(({ id }) => id))
    return rows.map((row) => toConnection(row, counts.get(row.id) ?? 0))
  }

  async function verify(credentials: TenantCredentials): Promise<void> {
    try {
      if (credentials.provider === 'gmail') await tenants.gmail.verify(credentials)
      else await tenants.microsoft.verify(credentials)
    } catch (error) {
      throw toRequestError(error, credentials)
    }
  }

  async function removeAccounts(id: string): Promise<void> {
    for (;;) {
      const accountIds = await reader.accountIds(id, '', ACCOUNTS_PER_TRANSACTION)
      if (accountIds.length === 0) return
      await db.transaction(async (tx) => {
        for (const accountId of accountIds) await deps.accounts.remove(tx, accountId).catch(ignoreNotFound)
      })
    }
  }

  return {
    async list(query) {
      const page = pageRequest(query, FILTER, ['text'])
      const [rows, total] = [await reader.list(page), await reader.count()]
      const { items, pagination } = buildPage(rows, page, total, FILTER, (row) => [row.id])
      return { items: await describe(items), pagination }
    },

    async get(id) {
      const [connection] = await describe([await reader.get(id)])
      if (connection === undefined) throw new Error('unreachable: every row is described')
      return connection
    },

    async create(body) {
      const { provider, kind, name } = body
      const credentials = parseCredentials(body)
      await verify(credentials)
      return async (tx) => {
        const id = ids('con')
        const now = clock.now()
        const row = await writer(tx).insert({
          id,
          provider,
          kind,
          name: name.trim(),
          settings: JSON.stringify(credentials.settings),
          secrets: sealSecrets(sealer, id, credentials.secrets),
          status: 'connected',
          statusReason: null,
          createdAt: now,
          updatedAt: now,
        })
        return toConnection(row, 0)
      }
    },

    async update(id, body, record) {
      const { name } = body
      const renewed = renewCredentials(openCredentials(sealer, await reader.get(id)), body)
      if (renewed !== undefined) await verify(renewed)
      const changed = await db.transaction(async (tx) => {
        await writer(tx).lock(id)
        await record(tx)
        // Tokens of the old secret stay valid, but the old secret may have been replaced because somebody knew it.
        if (renewed !== undefined) await connectionTokenStore(tx, db.dialect).forget(id)
        const changes = {
          ...(name !== undefined && { name: name.trim() }),
          ...(renewed !== undefined && {
            settings: JSON.stringify(renewed.settings),
            secrets: sealSecrets(sealer, id, renewed.secrets),
            status: 'connected' as const,
            statusReason: null,
          }),
        }
        return writer(tx).change(id, changes, clock.now())
      })
      if (renewed !== undefined) await deps.retryAccounts(id)
      const counts = await reader.accountCounts([id])
      return toConnection(changed, counts.get(id) ?? 0)
    },

    async remove(id, force, record) {
      await reader.get(id)
      if (force) await removeAccounts(id)
      return db.transaction(async (tx) => {
        const row = await writer(tx).lock(id)
        const count = (await writer(tx).accountCounts([id])).get(id) ?? 0
        if (count > 0) throw stillUsed(count)
        await writer(tx).delete(id)
        await record(tx, row)
        return row
      })
    },
  }
}

function toConnection(row: ConnectionRow, accountCount: number): Connection {
  const { id, provider, kind, name, status, statusReason } = row
  const settings: Partial<MicrosoftTenantSettings & GoogleTenantSettings> = JSON.parse(row.settings)
  return {
    id,
    provider,
    kind,
    name,
    tenantId: settings.tenantId ?? null,
    clientId: settings.clientId ?? null,
    thumbprint: settings.thumbprint ?? null,
    serviceAccountEmail: settings.serviceAccountEmail ?? null,
    keyId: settings.keyId ?? null,
    adminEmail: settings.adminEmail ?? null,
    hasSecret: true,
    status,
    statusReason,
    accountCount,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

/** Names the field of the request that the provider refused. */
function toRequestError(error: unknown, credentials: TenantCredentials): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.kind === 'auth_expired') {
    return invalid(`body.${refusedField(error, credentials)}`, `is refused. ${error.message}`)
  }
  const options = { cause: error, message: `${error.message}. Nothing was stored. Try again.` }
  return new AppError(error.timedOut ? 'provider_timeout' : 'provider_unavailable', options)
}

function refusedField({ credential }: ProviderError, { provider, secrets }: TenantCredentials): string {
  if (provider === 'gmail') return credential === 'email' ? 'adminEmail' : 'serviceAccountKey'
  return credential ?? (secrets.clientSecret === undefined ? 'certificate' : 'clientSecret')
}

function stillUsed(count: number): AppError {
  const accounts = count === 1 ? 'One account uses' : `${count} accounts use`
  return new AppError('conflict', {
    message: `${accounts} this connection. Delete them first, or pass force=true to delete them with all their data.`,
  })
}

/** Somebody else deleted the account meanwhile. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
}
