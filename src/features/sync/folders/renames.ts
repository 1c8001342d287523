import type { FolderSession, RemoteFolder } from '../../../providers/contract/index.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { incomingRow, messageStore } from '../../messages/index.ts'
import type { SyncDeps } from '../deps.ts'
import { type FolderPlan, renameCandidates } from '../folder-listing.ts'

const SAMPLE = 5
const MAX_PROBES = 20

/**
 * Finds the folders that only changed their name, on servers that give folders no id: a vanished label and an appeared folder
 * are one when the newest mails of the folder are the rows of the label, under the same numbering or by what is in them.
 */
export async function recogniseRenames(
  deps: SyncDeps,
  session: FolderSession,
  plan: FolderPlan,
  signal: AbortSignal,
): Promise<FolderPlan> {
  const found = new Map<LabelRow, RemoteFolder>()
  const taken = new Set<RemoteFolder>()
  for (const { label, folder } of renameCandidates(plan).slice(0, MAX_PROBES)) {
    if (found.has(label) || taken.has(folder)) continue
    if (!(await isSame(deps, session, label, folder, signal))) continue
    found.set(label, folder)
    taken.add(folder)
  }
  return {
    kept: [...plan.kept, ...[...found].map(([label, folder]) => ({ label, folder }))],
    appeared: plan.appeared.filter((folder) => !taken.has(folder)),
    vanished: plan.vanished.filter((label) => !found.has(label)),
  }
}

async function isSame(
  deps: SyncDeps,
  session: FolderSession,
  label: LabelRow,
  folder: RemoteFolder,
  signal: AbortSignal,
): Promise<boolean> {
  const store = messageStore(deps.db.read)
  if (await store.isFolderEmpty(label.id)) return false
  const mails = (await sample(session, folder, signal)).map((mail) =>
    incomingRow(mail, { accountId: label.accountId, labelId: label.id, nowMs: 0 }),
  )
  if (mails.length === 0) return false
  const rows = (await store.candidates(label.accountId, mails)).filter((row) => row.folderId === label.id)
  const known = new Set(rows.flatMap((row) => [row.emailIdHash, row.identityHash, row.headerHash]))
  // One mail may have arrived since the last look; the others must be known.
  const strangers = mails.filter((mail) => !known.has(mail.emailIdHash ?? mail.identityHash ?? mail.headerHash))
  return strangers.length * 2 < mails.length
}

async function sample(session: FolderSession, folder: RemoteFolder, signal: AbortSignal) {
  const request = { path: folder.path, cursor: null, initialMessages: SAMPLE, signal }
  try {
    for await (const step of session.syncFolder({ ...request, known: async () => [], knownCount: async () => 0 })) {
      if (step.added.length > 0) return step.added
    }
  } catch (error) {
    if (!(error instanceof ProviderError && error.kind === 'not_found')) throw error
  }
  return []
}
