import type { FolderSession, RemoteFolder } from '../../../providers/contract/index.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import type { FolderPlan, LabelRow } from '../../labels/index.ts'
import { incomingRow, locatedMessages, messageStore } from '../../messages/index.ts'
import type { SyncDeps } from '../deps.ts'
import { renameCandidates } from '../folder-listing.ts'

const SAMPLE = 5
const MAX_PROBES = 20

/**
 * Detects renamed folders on servers without MAILBOXID. A vanished label and an appeared folder are the same if the newest
 * messages of the folder match rows of the label.
 */
export async function detectRenames(
  deps: SyncDeps,
  session: FolderSession,
  plan: FolderPlan,
  signal: AbortSignal,
): Promise<FolderPlan> {
  const found = new Map<LabelRow, RemoteFolder>()
  const taken = new Set<RemoteFolder>()
  let probes = 0
  for (const { label, folder } of renameCandidates(plan)) {
    probes += 1
    if (probes > MAX_PROBES) break
    if (found.has(label) || taken.has(folder)) continue
    if (!(await isSameFolder(deps, session, label, folder, signal))) continue
    found.set(label, folder)
    taken.add(folder)
  }
  return {
    kept: [...plan.kept, ...[...found].map(([label, folder]) => ({ label, folder }))],
    appeared: plan.appeared.filter((folder) => !taken.has(folder)),
    vanished: plan.vanished.filter((label) => !found.has(label)),
  }
}

async function isSameFolder(
  deps: SyncDeps,
  session: FolderSession,
  label: LabelRow,
  folder: RemoteFolder,
  signal: AbortSignal,
): Promise<boolean> {
  if (await locatedMessages(deps.db.read).isFolderEmpty(label.id)) return false
  const messages = (await sample(session, folder, signal)).map((message) =>
    incomingRow(message, { accountId: label.accountId, labelId: label.id, nowMs: 0 }),
  )
  if (messages.length === 0) return false
  const candidates = await messageStore(deps.db.read).candidates(label.accountId, messages)
  const rows = candidates.filter((row) => row.folderId === label.id)
  const storedHashes = new Set(rows.flatMap((row) => [row.emailIdHash, row.identityHash, row.headerHash]))
  // Some messages may have arrived since the last sync; most must be known.
  const unknown = messages.filter((row) => !storedHashes.has(row.emailIdHash ?? row.identityHash ?? row.headerHash))
  return unknown.length * 2 < messages.length
}

async function sample(session: FolderSession, folder: RemoteFolder, signal: AbortSignal) {
  const request = { path: folder.path, cursor: null, initialMessages: SAMPLE, signal }
  try {
    const stored = { listStored: async () => [], newest: async () => [], knownCount: async () => 0 }
    for await (const step of session.syncFolder({ ...request, ...stored })) {
      if (step.added.length > 0) return step.added
    }
  } catch (error) {
    if (!(error instanceof ProviderError && error.kind === 'not_found')) throw error
  }
  return []
}
