import { type ApiChanges, findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import {
  type FolderSession,
  type FolderStep,
  ProviderError,
  type SuspectMessage,
} from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import {
  type EventBodies,
  ingest,
  locatedMessages,
  mailHorizons,
  messageStore,
  UndecidedMatches,
} from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { isNewArrival, notifyAfter } from '../new-since.ts'
import { type StepPart, splitStep } from '../split-step.ts'
import { cursorStore } from '../store.ts'
import { unreadableStore } from '../unreadable/store.ts'
import { emptyFolder } from './deletion.ts'
import {
  buildItemId,
  failingMessages,
  forgetMessages,
  forgetSuspects,
  recordSuspect,
  recordUnreadable,
} from './failing-messages.ts'
import { type AskPresence, checkPresence } from './presence.ts'

interface FolderSync extends OwnedAccount {
  session: FolderSession
  label: LabelRow
  /** Fetches the bodies of messages that will be announced, when events include bodies. */
  bodies(step: FolderStep): Promise<ReadonlyMap<number, EventBodies>>
  failures: FetchFailures
  signal: AbortSignal
}

/** Earlier failures to read the folder or its messages. */
export interface FetchFailures {
  /** How often in a row the folder has failed. */
  losses: number
  /** False when no message of the account is known to be unreadable. */
  mayHaveUnreadable(): boolean
  /** Called with a message that is fetched by itself and may fail, and without one when it was read. */
  onSuspect(message: SuspectMessage | undefined): void
  /** Called when messages that cannot be read were stored as such. */
  onUnreadable(): void
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
      if (error instanceof UndecidedMatches) {
        const ask: AskPresence = (...args) => folder.session.presentUids(...args)
        await checkPresence(labelStore(deps.db.read), ask, error.rows, presence)
      } else if (error instanceof StaleRead) presence.clear()
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
  const { session, label, accountId, failures } = folder
  const located = locatedMessages(deps.db.read)
  const position = await cursorStore(deps.db.read).find(accountId, label.id)
  const cursor = position?.cursor ?? null
  const compareFrom = position?.compareFrom ?? null
  let uidValidity = position?.uidValidity ?? null
  const readFailing = async () =>
    failures.mayHaveUnreadable() ? failingMessages(deps.db.read, accountId, label.id) : []
  const failing = await readFailing()
  // Read each time: messages may fail, and be deleted, during this pass.
  const readUnstored = async () =>
    (await readFailing()).filter((message) => !message.isStored && message.uidValidity === uidValidity)
  const knownCount = async () =>
    (await messageStore(deps.db.read).count(accountId, label.id)).total + (await readUnstored()).length
  const missedSinceMs = position?.announceAfter ?? notifyAfter(position?.lastSyncAt ?? null, folder.syncedAt())
  const suspects = new Set<number>()
  const passed = new Set(failing.map(({ uidValidity, uid }) => buildItemId(label.id, uidValidity, uid)))
  const steps = session.syncFolder({
    path: label.providerId,
    cursor,
    initialMessages: Math.max(deps.settings.initialMessages, cursor === null ? await knownCount() : 0),
    newest: () => located.newestUids(label.id, uidValidity ?? '', VERIFIED),
    listStored: async (lowUid, highUid) => [
      ...(await located.knownMessages(label.id, uidValidity ?? '', lowUid, highUid)),
      ...(await readUnstored()).filter(({ uid }) => uid >= lowUid && uid <= highUid),
    ],
    losses: failures.losses,
    failing,
    control: async () => (await located.newestUids(label.id, uidValidity ?? '', VERIFIED))[0]?.uid ?? null,
    suspect: async (message) => {
      await recordSuspect(deps, folder, message)
      suspects.add(message.uid)
      failures.onSuspect(message)
    },
    ...(compareFrom !== null && { compareFrom }),
    ...(missedSinceMs < Number.MAX_SAFE_INTEGER && { missedSinceMs }),
    knownCount,
    signal: folder.signal,
  })
  let isReread = position?.announceAfter !== null && position?.announceAfter !== undefined
  for await (const step of steps) {
    if (step.reset) {
      await clearFolder(deps, folder)
      // Their rows are gone: what this pass leaves out is recorded anew.
      passed.clear()
      isReread = true
    }
    const bodies = await folder.bodies(step)
    const context = { ...folder, presence, bodies, passed, suspects }
    for (const part of splitStep(step)) {
      folder.signal.throwIfAborted()
      try {
        uidValidity = (await storePart(deps, context, part, step.hasOlder)) ?? uidValidity
      } catch (error) {
        const isRepeated = error instanceof UndecidedMatches || error instanceof StaleRead
        if (isRepeated && (await forgetSuspects(deps, context, step.added))) failures.onSuspect(undefined)
        throw error
      }
    }
    if (suspects.size > 0) failures.onSuspect(undefined)
    suspects.clear()
  }
  if (compareFrom !== null) {
    await deps.db.transaction(async (tx) => {
      await deps.fence(tx, accountId, folder.epoch)
      await cursorStore(tx).compared(accountId, label.id, compareFrom)
    })
  }
  if (!isReread) return
  // The complete folder was read again: rows without a location are missing from it.
  await emptyFolder(deps, folder, label, (located) =>
    located.idsWithoutLocation(label.id, BATCH, folder.apiChanges.latest),
  )
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, folder.epoch)
    await cursorStore(tx).save(accountId, label.id, { announceAfter: null, lastSyncAt: deps.clock.now() })
  })
}

type FolderPart = StepPart<FolderStep['added'][number], FolderStep['changed'][number], number>

interface PartContext extends OwnedAccount {
  label: LabelRow
  failures: FetchFailures
  apiChanges: ApiChanges
  /** Whether rows stored in other folders are still there. */
  presence: ReadonlyMap<string, 'present' | 'absent'>
  bodies: ReadonlyMap<number, EventBodies>
  /** The ids of messages that failed before the step. */
  passed: ReadonlySet<string>
  /** The UIDs of messages that were fetched by themselves in this step. */
  suspects: ReadonlySet<number>
}

/**
 * Stores one part of a step in one transaction: fence, rows, labels and counters, events, cursor. Returns the UIDVALIDITY that was
 * stored with the cursor, if any. Throws `UndecidedMatches`, `StaleRead` and `OwnershipLost`; the transaction is then rolled back.
 */
async function storePart(
  deps: SyncDeps,
  context: PartContext,
  part: FolderPart,
  hasOlder: boolean | undefined,
): Promise<string | null> {
  const { accountId, label } = context
  const { counts, uidValidity } = await deps.db.transaction(store, { bulk: true })
  context.onStored(counts)
  return uidValidity

  async function store(tx: Tx) {
    await deps.fence(tx, accountId, context.epoch)
    const { counts, uidValidity } = await ingestPart(tx, deps, context, part)
    if (part.cursor === undefined) {
      await cursorStore(tx).countPart(accountId, label.id)
      return { counts, uidValidity: null }
    }
    await cursorStore(tx).savePosition(accountId, label.id, part.cursor, uidValidity)
    const storedSince = hasOlder ? Number.MAX_SAFE_INTEGER : 0
    if (hasOlder !== undefined) await mailHorizons(tx).save({ accountId, scopeId: label.id, storedSince })
    return { counts, uidValidity }
  }
}

/** Stores the messages of a part that the server returned, and records the others. */
async function ingestPart(tx: Tx, deps: SyncDeps, context: PartContext, part: FolderPart) {
  const { accountId, label, suspects, failures } = context
  const { refetched, changed, removed } = part
  const position = await cursorStore(tx).find(accountId, label.id)
  const uidValidity = part.added[0]?.location?.uidValidity ?? position?.uidValidity ?? null
  const fetched = part.added.flatMap(({ location }) => location?.uid ?? []).filter((uid) => suspects.has(uid))
  const gone = failures.mayHaveUnreadable() ? removed : []
  await forgetMessages(tx, context, uidValidity, [...gone, ...fetched])
  const added = await recordUnreadable(tx, deps, context, { ...part, position })
  if (added.length < part.added.length) tx.afterCommit(failures.onUnreadable)
  const counts = await ingest.folder(tx, deps, {
    accountId,
    provider: context.provider,
    label,
    uidValidity,
    removed,
    changed,
    added,
    apiChanges: context.apiChanges,
    presence: context.presence,
    bodies: context.bodies,
    isNew: (message, row) => isNewArrival(message, row, refetched, position, context.syncedAt()),
  })
  return { counts, uidValidity }
}

/** The cursor expired: reads the folder again and matches its messages with the rows, as after a UIDVALIDITY change. */
async function restart(deps: SyncDeps, folder: FolderSync): Promise<void> {
  await clearFolder(deps, folder)
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, folder.accountId, folder.epoch)
    await cursorStore(tx).save(folder.accountId, folder.label.id, {
      cursor: null,
      uidValidity: null,
      compareFrom: null,
    })
  })
}

/** Clears the locations of all rows in small transactions, before the first new UID is stored. A crash repeats it. */
async function clearFolder(deps: SyncDeps, { accountId, epoch, label, syncedAt, signal }: FolderSync): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const cursors = cursorStore(tx)
    const position = await cursors.find(accountId, label.id)
    const announceAfter = position?.announceAfter ?? notifyAfter(position?.lastSyncAt ?? null, syncedAt())
    await cursors.save(accountId, label.id, { announceAfter, compareFrom: null })
    await unreadableStore(tx, accountId).removeInFolder(label.id)
  })
  for (let cleared = BATCH; cleared === BATCH; ) {
    signal.throwIfAborted()
    cleared = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, accountId, epoch)
      return ingest.clearLocations(tx, label.id, BATCH)
    })
  }
}
