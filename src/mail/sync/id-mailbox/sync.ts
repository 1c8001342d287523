import { type ApiChanges, findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import {
  type Comparison,
  ENTIRE_MAILBOX,
  type FoundMessage,
  type KnownMailboxMessage,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
} from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { type EventBodies, ingest, mailHorizons, messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { isNewArrival, notifyAfter } from '../new-since.ts'
import { type StepPart, splitStep } from '../split-step.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import { buildControl } from '../unreadable/control.ts'
import { recordFailed } from './unreadable.ts'

interface ScopeSync extends OwnedAccount {
  session: MailboxSession
  /** Undefined when the entire mailbox is one scope. */
  scope: LabelRow | undefined
  /** The labels of the account by provider id. Lists the folders first if one of `paths` is unknown. */
  labels(paths: readonly string[]): Promise<ReadonlyMap<string, LabelRow>>
  /** Fetches the bodies of new messages when events include bodies. */
  bodies(step: MailboxStep, cursorRow: CursorRow | undefined): Promise<ReadonlyMap<string, EventBodies>>
  /** Taken before the provider was asked for anything. */
  apiChanges: ApiChanges
  signal: AbortSignal
}

const PAGE = 500
/** A provider that rejects even a fresh start is failing. */
const MAX_EXPIRIES = 2

/**
 * Syncs one scope until the provider has no further changes. Each part of a step is one transaction. Returns false when the
 * scope does not exist. Throws `ProviderError` and `OwnershipLost`.
 *
 *   step ──► unknown labels? list folders ──► part ──► store
 *     ├──► cursor expired: compare all stored messages
 *     └──► changed through the API meanwhile: restart at the cursor
 */
export async function syncScope(deps: SyncDeps, initialScope: ScopeSync): Promise<boolean> {
  let scope = initialScope
  for (let expiries = 0; ; ) {
    try {
      await syncOnce(deps, scope)
      return true
    } catch (error) {
      if (error instanceof StaleRead) {
        scope = { ...scope, apiChanges: await findApiChanges(deps.db.read, scope.accountId) }
        continue
      }
      if (!(error instanceof ProviderError)) throw error
      if (error.kind === 'not_found' && scope.scope !== undefined) return false
      if (error.kind !== 'cursor_expired') throw error
      if (expiries === MAX_EXPIRIES) throw new ProviderError('unavailable', error.message, { cause: error })
      expiries += 1
      await restart(deps, scope)
    }
  }
}

async function syncOnce(deps: SyncDeps, scope: ScopeSync): Promise<void> {
  const { accountId, session, signal } = scope
  const store = messageStore(deps.db.read)
  const cursorRow = await cursorStore(deps.db.read).find(accountId, cursorIdOf(scope))
  const isRestarted = cursorRow !== undefined && cursorRow.announceAfter !== null
  // An interrupted comparison continues even if it has deleted every stored message.
  const needsComparison =
    isRestarted && (cursorRow.cursor !== null || (await store.newestFirst(storedIn(scope), 1)).length > 0)
  const control = buildControl(deps.db, accountId)
  const steps = session.syncScope({
    scope: scope.scope?.providerId ?? ENTIRE_MAILBOX,
    cursor: cursorRow?.cursor ?? null,
    initialMessages: deps.settings.initialMessages,
    oldest: () => store.oldestReceivedAt(accountId),
    ...(needsComparison && { comparison: buildComparison(deps, scope) }),
    control,
    signal,
  })
  for await (const step of steps) {
    const labels = await scope.labels([...step.found, ...step.changed].flatMap(({ folders = [] }) => folders))
    const bodies = await scope.bodies(step, cursorRow)
    for (const part of splitIntoParts(step)) {
      signal.throwIfAborted()
      await storePart(deps, { ...scope, labels, bodies }, part, step)
    }
  }
  if (isRestarted) await save(deps, scope, { announceAfter: null, lastSyncAt: deps.clock.now() })
}

type Changed = MailboxStep['changed'][number]
type MailboxPart = StepPart<FoundMessage, Changed, string>

/**
 * Each message once: a complete message wins over its removal, and a removal over a change. New versions of drafts come first: they
 * take the rows of the versions that the same step removes.
 */
function splitIntoParts({ refetched, found, changed, removed, cursor }: MailboxStep): MailboxPart[] {
  const complete = new Map(found.map((message) => [message.message.providerMessageId, message]))
  const changes = new Map<string, Changed>()
  for (const change of changed) {
    if (complete.has(change.providerMessageId)) continue
    changes.set(change.providerMessageId, { ...changes.get(change.providerMessageId), ...change })
  }
  const removals = new Set(removed.filter((id) => !complete.has(id)))
  const isDraft = ({ message }: FoundMessage) => message.draftId !== undefined
  const all = [...complete.values()]
  const rest = splitStep({
    refetched,
    added: all.filter((message) => !isDraft(message)),
    changed: [...changes.values()].filter(({ providerMessageId }) => !removals.has(providerMessageId)),
    removed: [...removals],
    cursor,
  })
  const drafts = all.filter(isDraft)
  if (drafts.length === 0) return rest
  const first = splitStep({ refetched, added: drafts, changed: [], removed: [], cursor })
  return [...first.map((part) => ({ ...part, cursor: undefined })), ...rest]
}

type StepContext = Omit<ScopeSync, 'labels' | 'bodies'> & {
  /** The labels of the account, by provider id. */
  labels: ReadonlyMap<string, LabelRow>
  /** By provider message id. */
  bodies: ReadonlyMap<string, EventBodies>
}

/**
 * Stores one part of a step in one transaction: fence, rows, labels and counters, events, cursor. Throws `OwnershipLost`
 * and `StaleRead` without storing anything.
 */
async function storePart(deps: SyncDeps, context: StepContext, part: MailboxPart, step: MailboxStep): Promise<void> {
  const { accountId, provider, scope, labels, apiChanges, bodies } = context
  const store = async (tx: Tx) => {
    await deps.fence(tx, accountId, context.epoch)
    const cursors = cursorStore(tx)
    const cursorId = cursorIdOf(context)
    const cursorRow = await cursors.find(accountId, cursorId)
    const counts = await ingest.mailbox(tx, deps, {
      accountId,
      provider,
      scope,
      labels,
      removed: part.removed,
      changed: part.changed,
      found: part.added,
      apiChanges,
      bodies,
      isNew: (message, row) => isNewArrival(message, row, part.refetched, cursorRow, context.syncedAt()),
    })
    if (part.cursor === undefined) {
      await cursors.countPart(accountId, cursorId)
      return counts
    }
    await recordFailed(tx, deps, context, { step, cursorRow })
    await cursors.savePosition(accountId, cursorId, part.cursor, null)
    const { storedSince } = step
    if (storedSince !== undefined) await mailHorizons(tx).save({ accountId, scopeId: cursorId, storedSince })
    return counts
  }
  context.onStored(await deps.db.transaction(store, { bulk: true }))
}

/** The id under which a scope's cursor is stored: the label's, or the account's when the entire mailbox is one scope. */
export function cursorIdOf({ accountId, scope }: Pick<ScopeSync, 'accountId' | 'scope'>): string {
  return scope?.id ?? accountId
}

/** After an expired cursor: compares every message, and announces unknown ones only if they arrived since the last sync. */
async function restart(deps: SyncDeps, scope: ScopeSync): Promise<void> {
  const cursorRow = await cursorStore(deps.db.read).find(scope.accountId, cursorIdOf(scope))
  const announceAfter = cursorRow?.announceAfter ?? notifyAfter(cursorRow?.lastSyncAt ?? null, scope.syncedAt())
  await save(deps, scope, { cursor: null, announceAfter })
}

async function save(deps: SyncDeps, scope: ScopeSync, changes: Partial<CursorRow>): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, scope.accountId, scope.epoch)
    await cursorStore(tx).save(scope.accountId, cursorIdOf(scope), changes)
  })
}

function buildComparison(deps: SyncDeps, scope: ScopeSync): Comparison {
  const store = messageStore(deps.db.read)
  /** The last row of each page, by provider message id. */
  const ends = new Map<string, { receivedAt: number; id: string }>()
  return {
    async listStored(after) {
      const rows = await store.newestFirst(
        storedIn(scope),
        PAGE,
        after && (ends.get(after.providerMessageId) ?? endFromTime(after)),
      )
      const last = rows.at(-1)
      if (last !== undefined) ends.set(last.providerMessageId, last)
      const carried = await store.labelIds(rows.map((row) => row.id))
      const paths = new Map([...(await scope.labels([])).values()].map((label) => [label.id, label.providerId]))
      return rows.map(
        ({ id, providerMessageId, receivedAt, unread, starred }): KnownMailboxMessage => ({
          providerMessageId,
          receivedAt,
          unread: unread === 1,
          starred: starred === 1,
          folders: (carried.get(id) ?? []).flatMap((labelId) => paths.get(labelId) ?? []),
        }),
      )
    },
  }
}

/** After a restart only the time of the last row is known: messages of the same time are compared again. */
const endFromTime = ({ receivedAt }: KnownMailboxMessage) => ({ receivedAt: receivedAt + 1, id: '' })

function storedIn({ accountId, scope }: ScopeSync): { accountId: string; labelId?: string } {
  return { accountId, ...(scope !== undefined && { labelId: scope.id }) }
}
