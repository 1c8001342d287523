import type { EventOf, Recorder } from '../../events/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { accountEvents } from '../events.ts'
import { ACCOUNTS_TOPIC } from './account.ts'
import { toAccount } from './account-row.ts'
import type { AccountRow } from './store.ts'

/** Every change of an account needs these. */
export interface ChangeDeps {
  db: Db
  clock: Clock
  bus: Bus
  events: Recorder
  log: Log
}

type AccountEvents = typeof accountEvents

/** The event types of an account that still exists. */
export type AccountEventType = Exclude<keyof AccountEvents, 'account.deleted'>

/** The log entry of each change of an account. */
const LOGGED = {
  'account.connected': { operation: 'accounts.connect', message: 'An account was connected.' },
  'account.updated': { operation: 'accounts.update', message: 'An account was changed.' },
  'account.paused': { operation: 'accounts.pause', message: 'An account was paused.' },
  'account.resumed': { operation: 'accounts.resume', message: 'An account was resumed.' },
  'account.recovered': { operation: 'accounts.recover', message: 'An account syncs again.' },
  'account.deleted': { operation: 'accounts.delete', message: 'An account was deleted; its data is erased.' },
} as const satisfies Record<string, { operation: string; message: string }>

type LoggedType = keyof typeof LOGGED

/** Records the event of a change. Notifies the account's owner and logs the change after the commit. */
export async function recordChange(
  deps: ChangeDeps,
  tx: Tx,
  type: Exclude<LoggedType, 'account.deleted'>,
  row: AccountRow,
): Promise<void> {
  await deps.events.record(tx, [accountEvent(type, row)])
  notifyOwner(deps, tx, row.id)
  logChange(deps, tx, type, row)
}

/** Notifies the account's owner after the commit. */
export function notifyOwner({ bus }: ChangeDeps, tx: Tx, accountId: string): void {
  tx.afterCommit(() => bus.publish(ACCOUNTS_TOPIC, accountId))
}

/** Logs the change after the commit. */
export function logChange({ log }: ChangeDeps, tx: Tx, type: LoggedType, row: AccountRow): void {
  const { id: accountId, provider, watch } = row
  const { operation, message } = LOGGED[type]
  tx.afterCommit(() => log.info(message, { accountId, provider, operation, metadata: { watch: watch === 1 } }))
}

export function accountEvent(type: AccountEventType, row: AccountRow): EventOf<AccountEvents, AccountEventType> {
  const { id, provider, email, customUserId, status, statusReason } = toAccount(row)
  return {
    type,
    accountId: id,
    provider,
    objectId: id,
    version: row.version,
    data: { id, provider, email, customUserId, status, reason: statusReason },
  }
}

/** Holds no personal data except `customUserId`, which the application chose. */
export function deletedEvent(row: AccountRow): EventOf<AccountEvents, 'account.deleted'> {
  const { id, provider, customUserId } = row
  return {
    type: 'account.deleted',
    accountId: id,
    provider,
    objectId: id,
    version: row.version + 1,
    data: { id, provider, customUserId },
  }
}
