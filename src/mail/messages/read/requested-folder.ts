import { readLive } from '../../../accounts/index.ts'
import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type LabelRow, labelStore, newLabelRow } from '../../labels/index.ts'
import { type LiveAccessDeps, liveFolders } from './live-access.ts'
import type { MessageSearch } from './search-contract.ts'

export interface FolderDeps extends LiveAccessDeps {
  clock: Clock
  ids: Ids
  search: MessageSearch
  log: Log
}

export interface FolderQuery {
  labelId?: string | undefined
  mailbox?: string | undefined
}

/** Finds the folder that a list request names by `mailbox` or `labelId` (a path or an id). Throws `not_found` for an unknown one. */
export async function getFolder(
  deps: FolderDeps,
  accountId: string,
  requested: string,
  { labelId, mailbox }: FolderQuery,
): Promise<LabelRow> {
  const labels = labelStore(deps.db.read)
  const stored = await labels.find(accountId, requested)
  if (mailbox !== undefined && labelId !== undefined) {
    const other = await labels.find(accountId, labelId)
    if (other?.id !== stored?.id) throw invalid('query.labelId', 'names another folder than mailbox')
  }
  const folder = stored ?? (mailbox === undefined ? undefined : await storeUnlisted(deps, accountId, mailbox))
  if (folder === undefined || folder.selectable === 0) {
    const message = `There is no folder "${requested.slice(0, 200)}" in this account.`
    throw new AppError('not_found', { message })
  }
  return folder
}

/** Stores a folder that was created after the last sync, so that its id is permanent. */
async function storeUnlisted(deps: FolderDeps, accountId: string, path: string): Promise<LabelRow | undefined> {
  const live = await liveFolders(deps, accountId)
  const folder = (await readLive('The folder', () => live.listFolders())).find((folder) => folder.path === path)
  if (folder === undefined) return undefined
  await deps.db.transaction(async (tx) => {
    await deps.accounts.hold(tx, accountId)
    const nowMs = deps.clock.now()
    await labelStore(tx).insert([newLabelRow(folder, { id: deps.ids('lbl'), accountId, provider: 'imap', nowMs })])
  })
  // A concurrent request may have stored the folder first, with another id.
  return labelStore(deps.db.read).find(accountId, path)
}
