import type { Tx } from '../../../infra/db/index.ts'
import { type FolderSession, type FolderStep, ProviderError } from '../../../providers/contract/index.ts'
import { type ApiChanges, findApiChanges, StaleRead } from '../../accounts/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { type Candidate, type EventBodies, mailHorizons, messageStore, messageWriter } from '../../messages/index.ts'
import { notifyAfter } from '../arrivals.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'
import { type FolderContext, folderChange, UndecidedMatches } from './change.ts'
import { removeFromFolder } from './deletion.ts'

export interface FolderSync extends OwnedAccount {
  session: FolderSession
  label: LabelRow
  /** Fetches the bodies of messages that will be announced, when events include bodies. */
  bodies(step: FolderStep): Promise<ReadonlyMap<number, EventBodies>>
  signal: AbortSignal
}

const BATCH = 200
/** How many messages show that a folder still has those that are stored. */
const VERIFIED = 5

/**
 * Syncs one folder until the provider has no further changes. Each part of a step is one transaction. Returns false when the
 * folder no longer exists. Throws `ProviderError` and `OwnershipLost`.
 *
 *   step ──► (UIDVALIDITY changed? clear locations) ──► part ──► stored
 *                                                         ├──► undecided matches: ask the server, restart at the cursor
 *                                                         └──► changed through the API meanwhile: restart at the cursor
 */
export async function syncFolder(deps: SyncDeps, folder: FolderSync): Promise<boolean> {
  const presence = new Map<string, 'present' | 'absent'>()
  for (;;) {
    const apiChanges = await findApiChanges(deps.db.read, folder.accountId)
    try {
      await syncOnce(deps, { ...folder, apiChanges }, presence)
      return true
    } catch (error) {
      if (error instanceof UndecidedMatches) await checkPresence(deps, folder, error.rows, presence)
      else if (error instanceof StaleRead) presence.clear()
      else if (error instanceof ProviderError && error.kind === 'cursor_expired') await restart(deps, folder)
      else if (error instanceof ProviderError && error.kind === 'not_found') return false
      else throw error
    }
  }
}

async function syncOnce(
  deps: SyncDeps,
  folder: FolderSync & { apiChanges: ApiChanges },
  presence: ReadonlyMap<string, 'present' | 'absent'>,
): Promise<void> {
  const { session, label, accountId } = folder
  const store = messageStore(deps.db.read)
  const position = await cursorStore(deps.db.read).find(accountId, label.id)
  const knownCount = async () => (await store.count(accountId, label.id)).total
  const cursor = position?.cursor ?? null
  const compareFrom = position?.compareFrom ?? null
  let uidValidity = position?.uidValidity ?? null
  const missedSinceMs = position?.announceAfter ?? notifyAfter(position?.lastSyncAt ?? null, folder.syncedAt())
  const steps = session.syncFolder({
    path: label.providerId,
    cursor,
    initialMessages: Math.max(deps.settings.initialMessages, cursor === null ? await knownCount() : 0),
    newest: () => store.newestUids(label.id, uidValidity ?? '', VERIFIED),
    known: (lowUid, highUid) => store.knownMessages(label.id, uidValidity ?? '', lowUid, highUid),
    ...(compareFrom !== null && { compareFrom }),
    ...(missedSinceMs < Number.MAX_SAFE_INTEGER && { missedSinceMs }),
    knownCount,
    signal: folder.signal,
  })
  let isReread = position?.announceAfter !== null && position?.announceAfter !== undefined
  for await (const step of steps) {
    if (step.reset) {
      await clearLocations(deps, folder)
      isReread = true
    }
    const bodies = await folder.bodies(step)
    for (const part of splitStep(step)) {
      folder.signal.throwIfAborted()
      uidValidity = (await storePart(deps, { ...folder, presence, bodies }, part, step.hasOlder)) ?? uidValidity
    }
  }
  if (compareFrom !== null) {
    await deps.db.transaction(async (tx) => {
      await deps.fence(tx, accountId, folder.epoch)
      await cursorStore(tx).compared(accountId, label.id, compareFrom)
    })
  }
  if (!isReread) return
  // The complete folder was read again: rows without a location are missing from it.
  await removeFromFolder(deps, folder, label, (inside) =>
    inside.idsWithoutLocation(label.id, BATCH, folder.apiChanges.latest),
  )
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, folder.epoch)
    await cursorStore(tx).save(accountId, label.id, { announceAfter: null, lastSyncAt: deps.clock.now() })
  })
}

/** The changes of a step that one transaction stores. Only the last part has the cursor, so it is never ahead of the rows. */
export interface StepPart<Added, Changed, Removed> {
  refetched: boolean
  added: Added[]
  changed: Changed[]
  removed: Removed[]
  cursor: string | undefined
}

type FolderPart = StepPart<FolderStep['added'][number], FolderStep['changed'][number], number>

/** Small, because other transactions wait for it. */
const PART_SIZE = 200

/** Splits a step. Removals come first, because a removed message may be added again in the same step. */
export function splitStep<Added, Changed, Removed>(
  step: StepPart<Added, Changed, Removed> & { cursor: string },
): StepPart<Added, Changed, Removed>[] {
  const parts: StepPart<Added, Changed, Removed>[] = []
  const empty = { added: [], changed: [], removed: [], refetched: step.refetched, cursor: undefined }
  for (const removed of chunks(step.removed)) parts.push({ ...empty, removed })
  for (const changed of chunks(step.changed)) parts.push({ ...empty, changed })
  for (const added of chunks(step.added)) parts.push({ ...empty, added })
  const small = step.removed.length + step.changed.length + step.added.length <= PART_SIZE
  if (small) return [{ ...step }]
  const last = parts.pop() ?? empty
  return [...parts, { ...last, cursor: step.cursor }]
}

function chunks<T>(list: readonly T[]): T[][] {
  const parts: T[][] = []
  for (let start = 0; start < list.length; start += PART_SIZE) parts.push(list.slice(start, start + PART_SIZE))
  return parts
}

/**
 * Stores one part of a step in one transaction: fence, rows, labels and counters, events, cursor. Returns the UIDVALIDITY that was
 * stored with the cursor, if any. Throws `UndecidedMatches`, `StaleRead` and `OwnershipLost`; the transaction is then rolled back.
 */
async function storePart(
  deps: SyncDeps,
  context: FolderContext,
  part: FolderPart,
  hasOlder: boolean | undefined,
): Promise<string | null> {
  const { counts, uidValidity } = await deps.db.transaction(store, { bulk: true })
  context.onStored(counts)
  return uidValidity

  async function store(tx: Tx) {
    await deps.fence(tx, context.accountId, context.epoch)
    const change = await folderChange(deps, tx, context, part.added)
    await change.remove(part.removed)
    await change.setFlags(part.changed)
    await change.add(part.added, part.refetched)
    const counts = await change.record()
    const { accountId, label } = context
    if (part.cursor === undefined) {
      await cursorStore(tx).countPart(accountId, label.id)
      return { counts, uidValidity: null }
    }
    await cursorStore(tx).savePosition(accountId, label.id, part.cursor, change.uidValidity)
    const storedSince = hasOlder ? Number.MAX_SAFE_INTEGER : 0
    if (hasOlder !== undefined) await mailHorizons(tx).save({ accountId, scopeId: label.id, storedSince })
    return { counts, uidValidity: change.uidValidity }
  }
}

/** The cursor expired: reads the folder again and matches its messages with the rows, as after a UIDVALIDITY change. */
async function restart(deps: SyncDeps, folder: FolderSync): Promise<void> {
  await clearLocations(deps, folder)
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, folder.accountId, folder.epoch)
    await cursorStore(tx).save(folder.accountId, folder.label.id, {
      ...{ cursor: null, uidValidity: null, compareFrom: null },
    })
  })
}

/** Clears the locations of all rows in small transactions, before the first new UID is stored. A crash repeats it. */
async function clearLocations(
  deps: SyncDeps,
  { accountId, epoch, label, syncedAt, signal }: FolderSync,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const cursors = cursorStore(tx)
    const position = await cursors.find(accountId, label.id)
    const announceAfter = position?.announceAfter ?? notifyAfter(position?.lastSyncAt ?? null, syncedAt())
    await cursors.save(accountId, label.id, { announceAfter, compareFrom: null })
  })
  for (let cleared = BATCH; cleared === BATCH; ) {
    signal.throwIfAborted()
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
    // A folder that is gone may have been renamed, and one with another UIDVALIDITY may still have its messages. If not, these become moves
    // when that is known.
    const present = found && new Set(found)
    const isPresent = ({ uid }: Candidate) => present?.has(uid ?? -1) ?? true
    for (const row of group) presence.set(row.id, isPresent(row) ? 'present' : 'absent')
  }
}
