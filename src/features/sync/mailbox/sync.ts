import {
  type Comparison,
  ENTIRE_MAILBOX,
  type KnownMailboxMessage,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
} from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { messageStore } from '../../messages/index.ts'
import type { EventBodies } from '../announce.ts'
import { notifyAfter } from '../announce.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import { applyMailboxPart, mailboxParts, positionOf } from './step.ts'

export interface ScopeSync extends OwnedAccount {
  session: MailboxSession
  /** Undefined: the mailbox is one scope. */
  scope: LabelRow | undefined
  /** The labels of the account by the provider's ids, after those of `paths` that are unknown were looked up. */
  labels(paths: readonly string[]): Promise<ReadonlyMap<string, LabelRow>>
  /** Fetches the bodies of mails that may be announced, where events are to hold them. */
  bodies(step: MailboxStep, position: CursorRow | undefined): Promise<ReadonlyMap<string, EventBodies>>
  signal: AbortSignal
}

const PAGE = 500
/** A provider that refuses even a position it never gave is in trouble. */
const MAX_EXPIRIES = 2

/**
 * Brings one scope forward until the provider has nothing more: each part of a step is one transaction. Answers false
 * when the scope is gone. Throws `ProviderError` and `OwnershipLost`.
 *
 *   step ──► labels known? ──► part ──► stored
 *     └──► cursor expired: compare all that is stored
 */
export async function syncScope(deps: SyncDeps, scope: ScopeSync): Promise<boolean> {
  for (let expiries = 0; ; expiries += 1) {
    try {
      await onePass(deps, scope)
      return true
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (error.kind === 'not_found' && scope.scope !== undefined) return false
      if (error.kind !== 'cursor_expired') throw error
      if (expiries === MAX_EXPIRIES) throw new ProviderError('unavailable', error.message, { cause: error })
      await beginAnew(deps, scope)
    }
  }
}

async function onePass(deps: SyncDeps, scope: ScopeSync): Promise<void> {
  const { accountId, session, signal } = scope
  const store = messageStore(deps.db.read)
  const position = await cursorStore(deps.db.read).find(accountId, positionOf(scope))
  const isAnew = position !== undefined && position.announceAfter !== null
  // A comparison under way is gone on with even if it has left nothing stored.
  const isCompared = isAnew && (position.cursor !== null || (await store.newestFirst(stored(scope), 1)).length > 0)
  const steps = session.syncScope({
    scope: scope.scope?.providerId ?? ENTIRE_MAILBOX,
    cursor: position?.cursor ?? null,
    initialMessages: deps.settings.initialMessages,
    oldest: () => store.oldestReceivedAt(accountId),
    ...(isCompared && { comparison: comparing(deps, scope) }),
    signal,
  })
  for await (const step of steps) {
    const labels = await scope.labels([...step.found, ...step.changed].flatMap(({ folders = [] }) => folders))
    const bodies = await scope.bodies(step, position)
    for (const part of mailboxParts(step)) {
      signal.throwIfAborted()
      await applyMailboxPart(deps, { ...scope, labels, bodies }, part)
    }
  }
  if (isAnew) await save(deps, scope, { announceAfter: null, lastSyncAt: deps.clock.now() })
}

/** The position cannot be used any more: everything is compared, and mail that is not stored is news only if it came since. */
async function beginAnew(deps: SyncDeps, scope: ScopeSync): Promise<void> {
  const position = await cursorStore(deps.db.read).find(scope.accountId, positionOf(scope))
  const announceAfter = position?.announceAfter ?? notifyAfter(position?.lastSyncAt ?? null, scope.syncedAt())
  await save(deps, scope, { cursor: null, announceAfter })
}

async function save(deps: SyncDeps, scope: ScopeSync, changes: Partial<CursorRow>): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, scope.accountId, scope.epoch)
    await cursorStore(tx).save(scope.accountId, positionOf(scope), changes)
  })
}

function comparing(deps: SyncDeps, scope: ScopeSync): Comparison {
  const store = messageStore(deps.db.read)
  /** Where each page ended. */
  const ends = new Map<string, { receivedAt: number; id: string }>()
  return {
    async known(after) {
      const rows = await store.newestFirst(
        stored(scope),
        PAGE,
        after && (ends.get(after.providerMessageId) ?? endBy(after)),
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

/** Of a comparison that goes on after a restart only the moment is known: those of the same moment come once more. */
const endBy = ({ receivedAt }: KnownMailboxMessage) => ({ receivedAt: receivedAt + 1, id: '' })

function stored({ accountId, scope }: ScopeSync): { accountId: string; labelId?: string } {
  return { accountId, ...(scope !== undefined && { labelId: scope.id }) }
}
