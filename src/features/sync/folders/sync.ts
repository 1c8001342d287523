import { type FolderSession, type FolderStep, ProviderError } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { type Candidate, messageStore, messageWriter } from '../../messages/index.ts'
import type { EventBodies } from '../announce.ts'
import { notifyAfter } from '../announce.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'
import { UndecidedMatches } from './change.ts'
import { removeFromFolder } from './deletion.ts'
import { splitStep, storePart } from './step.ts'

export interface FolderSync extends OwnedAccount {
  session: FolderSession
  label: LabelRow
  /** Fetches the bodies of messages that will be announced, when events include bodies. */
  bodies(step: FolderStep, label: LabelRow): Promise<ReadonlyMap<number, EventBodies>>
  signal: AbortSignal
}

const BATCH = 200

/**
 * Syncs one folder until the provider has no more changes. Each part of a step is one transaction. Returns false when the
 * folder no longer exists. Throws `ProviderError` and `OwnershipLost`.
 *
 *   step ──► (UIDVALIDITY changed? clear locations) ──► part ──► stored
 *                                                         └──► undecided matches: ask the server, restart at the cursor
 */
export async function syncFolder(deps: SyncDeps, folder: FolderSync): Promise<boolean> {
  const presence = new Map<string, 'present' | 'absent'>()
  for (;;) {
    try {
      await syncOnce(deps, folder, presence)
      return true
    } catch (error) {
      if (error instanceof UndecidedMatches) await checkPresence(deps, folder, error.rows, presence)
      else if (error instanceof ProviderError && error.kind === 'cursor_expired') await restart(deps, folder)
      else if (error instanceof ProviderError && error.kind === 'not_found') return false
      else throw error
    }
  }
}

async function syncOnce(
  deps: SyncDeps,
  folder: FolderSync,
  presence: ReadonlyMap<string, 'present' | 'absent'>,
): Promise<void> {
  const { session, label, accountId } = folder
  const store = messageStore(deps.db.read)
  const position = await cursorStore(deps.db.read).find(accountId, label.id)
  const knownCount = async () => (await store.count(accountId, label.id)).total
  const cursor = position?.cursor ?? null
  const steps = session.syncFolder({
    path: label.providerId,
    cursor,
    initialMessages: Math.max(deps.settings.initialMessages, cursor === null ? await knownCount() : 0),
    async known(lowUid, highUid) {
      const now = await cursorStore(deps.db.read).find(accountId, label.id)
      return store.knownMessages(label.id, now?.uidValidity ?? '', lowUid, highUid)
    },
    knownCount,
    signal: folder.signal,
  })
  let isReread = position?.announceAfter !== null && position?.announceAfter !== undefined
  for await (const step of steps) {
    if (step.reset) {
      await clearLocations(deps, folder)
      isReread = true
    }
    const bodies = await folder.bodies(step, label)
    for (const part of splitStep(step)) await storePart(deps, { ...folder, presence, bodies }, part)
  }
  if (!isReread) return
  // The complete folder was read again: rows without a location are missing from it.
  await removeFromFolder(deps, folder, label, (inside) => inside.withoutLocation(label.id, BATCH))
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, folder.epoch)
    await cursorStore(tx).save(accountId, label.id, { announceAfter: null, lastSyncAt: deps.clock.now() })
  })
}

/** The cursor expired: reads the folder again and matches its messages with the rows, as after a UIDVALIDITY change. */
async function restart(deps: SyncDeps, folder: FolderSync): Promise<void> {
  await clearLocations(deps, folder)
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, folder.accountId, folder.epoch)
    await cursorStore(tx).save(folder.accountId, folder.label.id, { cursor: null, uidValidity: null })
  })
}

/** Clears the locations of all rows in small transactions, before the first new UID is stored. A crash repeats it. */
async function clearLocations(deps: SyncDeps, { accountId, epoch, label, syncedAt }: FolderSync): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const cursors = cursorStore(tx)
    const position = await cursors.find(accountId, label.id)
    const announceAfter = position?.announceAfter ?? notifyAfter(position?.lastSyncAt ?? null, syncedAt())
    await cursors.save(accountId, label.id, { announceAfter })
  })
  for (let cleared = BATCH; cleared === BATCH; ) {
    cleared = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, accountId, epoch)
      const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs: deps.clock.now() })
      return writer.clearLocations(label.id, BATCH)
    })
  }
}

/** Asks the server which rows are still at their stored location, in one request per folder. */
async function checkPresence(
  deps: SyncDeps,
  { session }: FolderSync,
  rows: readonly Candidate[],
  presence: Map<string, 'present' | 'absent'>,
): Promise<void> {
  const folders = await labelStore(deps.db.read).byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
  const groups = new Map<string, Candidate[]>()
  for (const row of rows) {
    const key = `${row.folderId} ${row.uidValidity}`
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  for (const group of groups.values()) {
    const path = folders.get(group[0]?.folderId ?? '')?.providerId
    const uids = group.flatMap((row) => row.uid ?? [])
    const found = path === undefined ? [] : await session.presentUids(path, group[0]?.uidValidity ?? '', uids)
    const present = new Set(found)
    for (const row of group) presence.set(row.id, present.has(row.uid ?? -1) ? 'present' : 'absent')
  }
}
