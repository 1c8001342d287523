import type { Clock } from '../../../lib/clock.ts'
import { AppError, invalid } from '../../../lib/errors.ts'
import type { Ids } from '../../../lib/ids.ts'
import { type LabelRow, labelStore, newLabelRow } from '../../labels/index.ts'
import { live } from '../provider-failure.ts'
import { foldersOf, type MailboxDeps } from './live-access.ts'

export interface FolderDeps extends MailboxDeps {
  clock: Clock
  ids: Ids
}

export interface FolderQuery {
  labelId?: string | undefined
  mailbox?: string | undefined
}

/**
 * The folder a list is asked for: `mailbox` or `labelId` by path or id, else the account's own. Undefined: the account was
 * never synced and nothing was asked for. Throws 404 for an unknown one.
 */
export async function findFolder(
  deps: FolderDeps,
  accountId: string,
  query: FolderQuery,
): Promise<LabelRow | undefined> {
  const labels = labelStore(deps.db.read)
  if (query.mailbox === undefined && query.labelId === undefined) {
    return (await labels.all(accountId)).find((label) => label.syncedAs?.startsWith('main:'))
  }
  const asked = query.mailbox ?? query.labelId ?? ''
  const label = await labels.find(accountId, asked)
  if (query.mailbox !== undefined && query.labelId !== undefined) {
    const other = await labels.find(accountId, query.labelId)
    if (other?.id !== label?.id) throw invalid('query.labelId', 'names another folder than mailbox')
  }
  const found = label ?? (query.mailbox === undefined ? undefined : await lookUp(deps, accountId, query.mailbox))
  if (found === undefined || found.selectable === 0) throw unknownFolder(asked)
  return found
}

function unknownFolder(asked: string): AppError {
  return new AppError('not_found', { message: `There is no folder "${asked.slice(0, 200)}" in this account.` })
}

/** A folder that no listing has shown yet: asked of the server, and stored so that its id lasts. */
async function lookUp(deps: FolderDeps, accountId: string, path: string): Promise<LabelRow | undefined> {
  const liveReads = await foldersOf(deps, accountId)
  const folder = (await live('The folder', () => liveReads.listFolders())).find((one) => one.path === path)
  if (folder === undefined) return undefined
  await deps.db.transaction(async (tx) => {
    await deps.accounts.hold(tx, accountId)
    const about = { id: deps.ids('lbl'), accountId, provider: 'imap' as const, nowMs: deps.clock.now() }
    await labelStore(tx).insert([newLabelRow(folder, about)])
  })
  return labelStore(deps.db.read).find(accountId, path)
}
