import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type { Ids } from '../../platform/ids.ts'
import { connectionStore } from '../tenants/store.ts'
import { linkedSecrets, openSecrets, sealSecrets, tokenSummary } from '../tokens/account-secrets.ts'
import type { Account, LicenceCheck, LinkAccount } from './account.ts'
import { buildSearchText, cleanAlias, hashIdentity, mailHostOf, toAccount } from './account-row.ts'
import { type ChangeDeps, recordChange } from './announce.ts'
import { accountQueries } from './queries.ts'
import { retryShared } from './status.ts'
import { type AccountRow, accountStore } from './store.ts'

export interface LinkDeps extends ChangeDeps {
  ids: Ids
  sealer: Sealer
  /** Default: no cap. */
  licence?: LicenceCheck
  /** Called after this process has linked an account, new or again, so that it syncs at once. */
  onLinked?(accountId: string): void
}

/** See `Accounts.link`. */
export async function linkAccount(deps: LinkDeps, tx: Tx, request: LinkAccount): Promise<Account> {
  const store = accountStore(tx, deps.db.dialect)
  const input = { ...request, customUserId: cleanAlias(request.customUserId) }
  // Prevents the deletion of what opens the mailbox meanwhile.
  if (input.sharedWith !== undefined) await store.hold(input.sharedWith)
  if (input.connectionId !== undefined) await connectionStore(tx, deps.db.dialect).lock(input.connectionId)
  const identity = hashIdentity(input.provider, input.providerUser, input.customUserId)
  const existing = (await store.lockByIdentity(identity)) ?? (await lockFormer(deps, tx, input))
  if (existing !== undefined) return relink(deps, tx, existing, input)
  try {
    await deps.licence?.check(tx, () => accountQueries(tx).count())
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // A concurrent link of the same identity may have taken the last account of the licence.
    const existing = await store.lockByIdentity(identity)
    if (existing === undefined) throw error
    return relink(deps, tx, existing, input)
  }
  const created = await insertAccount(deps, tx, input, identity)
  // A concurrent transaction linked the same identity and committed, so this one updates that row.
  if (created === undefined) return relink(deps, tx, await lockExisting(deps, tx, identity), input)
  await recordChange(deps, tx, 'account.connected', created)
  tx.afterCommit(() => deps.onLinked?.(created.id))
  return toAccount(created)
}

async function lockFormer({ db }: LinkDeps, tx: Tx, input: LinkAccount): Promise<AccountRow | undefined> {
  const { provider, formerUser, customUserId } = input
  if (formerUser === undefined) return undefined
  return accountStore(tx, db.dialect).lockByIdentity(hashIdentity(provider, formerUser, customUserId))
}

/** Undefined when another account has this identity. */
function insertAccount(deps: LinkDeps, tx: Tx, input: LinkAccount, identity: string): Promise<AccountRow | undefined> {
  const id = deps.ids('acc')
  const now = deps.clock.now()
  return accountStore(tx, deps.db.dialect).insert({
    id,
    ...accessColumns(deps, id, input),
    provider: input.provider,
    providerUser: input.providerUser,
    customUserId: input.customUserId,
    identity,
    paused: input.paused ? 1 : 0,
    watch: 1,
    trouble: null,
    lastSyncAt: null,
    ownerInstance: null,
    createdAt: now,
    updatedAt: now,
  })
}

async function lockExisting({ db }: LinkDeps, tx: Tx, identity: string): Promise<AccountRow> {
  const existing = await accountStore(tx, db.dialect).lockByIdentity(identity)
  if (existing === undefined)
    throw new AppError('conflict', { message: 'The account was deleted while it was linked.' })
  return existing
}

async function relink(deps: LinkDeps, tx: Tx, row: AccountRow, input: LinkAccount): Promise<Account> {
  const { provider, providerUser, customUserId } = input
  const changes = {
    ...accessColumns(deps, row.id, input, row),
    providerUser,
    identity: hashIdentity(provider, providerUser, customUserId),
    accessVersion: row.accessVersion + 1,
  }
  const changed = await accountStore(tx, deps.db.dialect).change(row.id, changes, deps.clock.now())
  await recordChange(deps, tx, 'account.updated', changed)
  await retryShared(deps, tx, row.id)
  tx.afterCommit(() => deps.onLinked?.(row.id))
  return toAccount(changed)
}

/** The columns that new credentials set, in a new and in an existing row. */
function accessColumns({ sealer, clock }: LinkDeps, accountId: string, input: LinkAccount, row?: AccountRow) {
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
    connectionId: input.connectionId ?? null,
    sharedWith: input.sharedWith ?? null,
    secrets: sealSecrets(sealer, accountId, secrets),
    tokens: JSON.stringify(tokenSummary(secrets.oauth, input.tokens?.scopes ?? [])),
    tokenLease: null,
    tokenLeaseUntil: null,
  }
}
