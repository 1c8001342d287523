import type { Tx } from '../../platform/db/index.ts'
import { cleanText, truncateText } from '../../platform/formats/text.ts'
import { syncRequests } from '../mailbox/sync-requests.ts'
import type { Account, WorkStatus } from './account.ts'
import { toAccount } from './account-row.ts'
import { type AccountEventType, accountEvent, type ChangeDeps, logChange } from './announce.ts'
import { type AccountRow, accountStore } from './store.ts'

const MAX_REASON = 500

/** See `Accounts.setStatus`. */
export async function setStatus(
  deps: ChangeDeps,
  tx: Tx,
  accountId: string,
  status: WorkStatus,
  reason: string | null,
  accessVersion?: number,
): Promise<void> {
  const row = await accountStore(tx, deps.db.dialect).lock(accountId)
  if (accessVersion === undefined || accessVersion === row.accessVersion)
    await changeStatus(deps, tx, row, status, reason)
}

/** See `Accounts.markStalled`. */
export async function markStalled(deps: ChangeDeps, tx: Tx, accountId: string, reason: string): Promise<void> {
  const row = await accountStore(tx, deps.db.dialect).lock(accountId)
  const isKnown = row.status === 'error' && row.statusReason === reason
  if (!isKnown && row.paused === 0 && row.status !== 'auth_error') await changeStatus(deps, tx, row, 'error', reason)
}

async function changeStatus(
  deps: ChangeDeps,
  tx: Tx,
  row: AccountRow,
  status: WorkStatus,
  reason: string | null,
): Promise<void> {
  const { db, clock, events } = deps
  const statusReason = reason === null ? null : truncateText(cleanText(reason), MAX_REASON)
  if (row.status === status && row.statusReason === statusReason) return
  const { trouble, eventType } = troubleAfter(row, status)
  const changed = await accountStore(tx, db.dialect).change(row.id, { status, statusReason, trouble }, clock.now())
  if (eventType !== undefined) await events.record(tx, [accountEvent(eventType, changed)])
  // The run that failed reports the other types itself.
  if (eventType === 'account.recovered') logChange(deps, tx, eventType, changed)
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

/** See `Accounts.tryAgain`. */
export async function tryAgain(deps: ChangeDeps, tx: Tx, accountId: string): Promise<Account> {
  const store = accountStore(tx, deps.db.dialect)
  const row = await store.lock(accountId)
  const changes = retryColumns(row)
  if (row.paused === 1 || changes === undefined) return toAccount(row)
  const changed = await store.change(accountId, changes, deps.clock.now())
  await syncRequests(deps).request(tx, [accountId], 'everything')
  await retryShared(deps, tx, accountId)
  return toAccount(changed)
}

/** Allows one more attempt for the shared mailboxes that this account opens: its tokens may work again. */
export async function retryShared(deps: ChangeDeps, tx: Tx, accountId: string): Promise<void> {
  for (const id of await accountStore(tx, deps.db.dialect).sharedWith(accountId, 'auth_error')) {
    await tryAgain(deps, tx, id)
  }
}

/** The columns that allow one more attempt after rejected credentials. A person asked for it, so it is no retry loop. */
export function retryColumns(row: AccountRow) {
  return row.status === 'auth_error' ? { status: 'connecting' as const, statusReason: null } : undefined
}
