import type { Account } from '../../accounts/index.ts'
import type { Db } from '../../platform/db/index.ts'
import type { FolderRole } from '../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../labels/index.ts'
import { mailHorizons } from '../messages/index.ts'
import type { SyncPosition, SyncPositions } from '../sync/index.ts'
import { type BackfillFolderRow, backfillFolderStore } from './store.ts'

/** A folder to backfill, or a mailbox that syncs as one. */
export interface Scope {
  scopeId: string
  /** Undefined for a mailbox that syncs as one. */
  label: LabelRow | undefined
  /** Messages received since then are stored. */
  storedSince: number
  position: SyncPosition
  row: BackfillFolderRow | undefined
}

export interface Scopes {
  /** Scopes that can be read now, the most important first. */
  ready: Scope[]
  /** Their first sync is not complete, or sync reads them again. */
  waiting: { scopeId: string; label: LabelRow | undefined; row: BackfillFolderRow | undefined }[]
}

const FIRST_ROLES: readonly (FolderRole | null)[] = ['inbox', 'sent', 'drafts', 'archive']

/** Lists the scopes of an account that are left to read. Folders that a first sync has stored completely are left out. */
export async function openScopes(
  db: Pick<Db, 'read'>,
  positions: SyncPositions,
  { id: accountId, provider }: Pick<Account, 'id' | 'provider'>,
): Promise<Scopes> {
  const labels = provider === 'gmail' ? [] : await syncedLabels(db, accountId)
  const all =
    provider === 'gmail'
      ? [{ scopeId: accountId, label: undefined }]
      : labels.map((label) => ({ scopeId: label.id, label }))
  const [rows, horizons] = await Promise.all([
    backfillFolderStore(db.read).all(accountId),
    mailHorizons(db.read).all(accountId),
  ])
  const scopes: Scopes = { ready: [], waiting: [] }
  for (const { scopeId, label } of all) {
    const row = rows.get(scopeId)
    const storedSince = horizons.get(scopeId)
    if (row?.isDone === 1 || storedSince === 0) continue
    const position = await positions.find(db.read, accountId, scopeId)
    if (position === undefined || storedSince === undefined) scopes.waiting.push({ scopeId, label, row })
    else scopes.ready.push({ scopeId, label, storedSince, position, row })
  }
  return scopes
}

async function syncedLabels(db: Pick<Db, 'read'>, accountId: string): Promise<LabelRow[]> {
  const labels = (await labelStore(db.read).all(accountId)).filter(({ syncedAs }) => syncedAs !== null)
  const rank = ({ syncedAs, role }: LabelRow) => {
    if (syncedAs?.startsWith('main:')) return -1
    const index = FIRST_ROLES.indexOf(role)
    return index === -1 ? FIRST_ROLES.length : index
  }
  return labels.sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))
}
