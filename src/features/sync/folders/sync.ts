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
  /** Fetches the bodies of mails that may be announced, where events are to hold them. */
  bodies(step: FolderStep, label: LabelRow): Promise<ReadonlyMap<number, EventBodies>>
  signal: AbortSignal
}

const BATCH = 200

/**
 * Brings one folder forward until the provider has nothing more: each part of a step is one transaction. Answers false
 * when the folder is gone. Throws `ProviderError` and `OwnershipLost`.
 *
 *   step ──► (numbering new? rows lose their places) ──► part ──► stored
 *                                                          └──► undecided: ask the server, begin again at the cursor
 */
export async function syncFolder(deps: SyncDeps, folder: FolderSync): Promise<boolean> {
  const presence = new Map<string, 'present' | 'absent'>()
  for (;;) {
    try {
      await onePass(deps, folder, presence)
      return true
    } catch (error) {
      if (error instanceof UndecidedMatches) await ask(deps, folder, error.rows, presence)
      else if (error instanceof ProviderError && error.kind === 'cursor_expired') await beginAnew(deps, folder)
      else if (error instanceof ProviderError && error.kind === 'not_found') return false
      else throw error
    }
  }
}

async function onePass(
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
  let renumbered = position?.announceAfter !== null && position?.announceAfter !== undefined
  for await (const step of steps) {
    if (step.reset) {
      await clearLocations(deps, folder)
      renumbered = true
    }
    const bodies = await folder.bodies(step, label)
    for (const part of splitStep(step)) await storePart(deps, { ...folder, presence, bodies }, part)
  }
  if (!renumbered) return
  // The folder was read anew: what was not found again is not there any more.
  await removeFromFolder(deps, folder, label, (inside) => inside.withoutLocation(label.id, BATCH))
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, folder.epoch)
    await cursorStore(tx).save(accountId, label.id, { announceAfter: null, lastSyncAt: deps.clock.now() })
  })
}

/** The cursor cannot be used any more: everything is read again and recognised, as after a new numbering. */
async function beginAnew(deps: SyncDeps, folder: FolderSync): Promise<void> {
  await clearLocations(deps, folder)
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, folder.accountId, folder.epoch)
    await cursorStore(tx).save(folder.accountId, folder.label.id, { cursor: null, uidValidity: null })
  })
}

/** In small transactions, before anything of the new numbering is stored; a crash between them only repeats it. */
async function clearLocations(deps: SyncDeps, { accountId, epoch, label, syncedAt }: FolderSync): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const cursors = cursorStore(tx)
    const position = await cursors.find(accountId, label.id)
    const announceAfter = position?.announceAfter ?? notifyAfter(position?.lastSyncAt ?? null, syncedAt())
    await cursors.save(accountId, label.id, { announceAfter })
  })
  for (let lost = BATCH; lost === BATCH; ) {
    lost = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, accountId, epoch)
      const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs: deps.clock.now() })
      return writer.clearLocations(label.id, BATCH)
    })
  }
}

/** Do these rows still stand where they are stored? One question per folder. */
async function ask(
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
    const asked = path === undefined ? [] : await session.presentUids(path, group[0]?.uidValidity ?? '', uids)
    const present = new Set(asked)
    for (const row of group) presence.set(row.id, present.has(row.uid ?? -1) ? 'present' : 'absent')
  }
}
