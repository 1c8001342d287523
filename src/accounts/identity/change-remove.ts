import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { syncRequests } from '../mailbox/sync-requests.ts'
import { sealRevocation } from '../tokens/revocation.ts'
import type { Account, AccountChanges } from './account.ts'
import { buildSearchText, cleanAlias, hashIdentity, toAccount } from './account-row.ts'
import { type ChangeDeps, deletedEvent, logChange, notifyOwner, recordChange } from './announce.ts'
import { retryColumns } from './status.ts'
import { type AccountRow, accountStore } from './store.ts'

/** See `Accounts.change`. */
export async function changeAccount(
  deps: ChangeDeps,
  tx: Tx,
  accountId: string,
  changes: AccountChanges,
): Promise<Account> {
  const store = accountStore(tx, deps.db.dialect)
  let row = await store.lock(accountId)
  const customUserId = changes.customUserId === undefined ? row.customUserId : cleanAlias(changes.customUserId)
  const watch = Number(changes.watch ?? row.watch)
  if (customUserId !== row.customUserId || watch !== row.watch) {
    const identity = hashIdentity(row.provider, row.providerUser, customUserId)
    const searchText = buildSearchText({ email: row.email, customUserId })
    row = await changeIdentity(deps, tx, accountId, { customUserId, searchText, watch, identity })
    await recordChange(deps, tx, 'account.updated', row)
  }
  const folders = changes.folders === undefined ? row.folders : chosenFolders(changes.folders)
  if (folders !== row.folders) {
    row = await store.change(accountId, { folders }, deps.clock.now())
    await recordChange(deps, tx, 'account.updated', row)
    await syncRequests(deps).request(tx, [accountId], 'everything')
  }
  const paused = Number(changes.paused ?? row.paused)
  if (paused !== row.paused) {
    row = await store.change(accountId, { paused, ...(paused === 0 && retryColumns(row)) }, deps.clock.now())
    await recordChange(deps, tx, paused === 1 ? 'account.paused' : 'account.resumed', row)
  }
  return toAccount(row)
}

/** In one order, so that the same choice is no change. */
function chosenFolders(labelIds: readonly string[] | null): string | null {
  return labelIds === null ? null : JSON.stringify([...labelIds].sort())
}

async function changeIdentity(
  { db, clock }: ChangeDeps,
  tx: Tx,
  accountId: string,
  changes: Pick<AccountRow, 'customUserId' | 'searchText' | 'watch' | 'identity'>,
): Promise<AccountRow> {
  try {
    return await accountStore(tx, db.dialect).change(accountId, changes, clock.now())
  } catch (error) {
    if (!db.dialect.isUniqueViolation(error)) throw error
    throw new AppError('conflict', {
      message: 'Another account of the same mailbox already has this customUserId.',
    })
  }
}

export interface RemoveDeps extends ChangeDeps {
  sealer: Sealer
  /** Runs in the transaction that deletes an account: requests its erasure. */
  onRemove(tx: Tx, accountId: string): Promise<void>
}

function stillShares(ids: readonly string[]): AppError {
  return new AppError('conflict', {
    message: `Shared mailboxes are opened with the tokens of this account. Delete them first: ${ids.slice(0, 20).join(', ')}.`,
  })
}

/** See `Accounts.remove`. */
export async function removeAccount(deps: RemoveDeps, tx: Tx, accountId: string): Promise<void> {
  const { db, clock, sealer, events } = deps
  const store = accountStore(tx, db.dialect)
  const row = await store.lock(accountId)
  const shared = await store.sharedWith(accountId)
  if (shared.length > 0) throw stillShares(shared)
  await store.remove(accountId, clock.now(), sealRevocation(sealer, row))
  await events.record(tx, [deletedEvent(row)])
  await deps.onRemove(tx, accountId)
  notifyOwner(deps, tx, accountId)
  logChange(deps, tx, 'account.deleted', row)
}
