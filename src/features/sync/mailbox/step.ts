import type { FoundMessage, MailboxStep } from '../../../providers/contract/index.ts'
import type { SyncDeps } from '../deps.ts'
import { type StepPart, splitStep } from '../folders/step.ts'
import { cursorStore } from '../store.ts'
import { type MailboxContext, mailboxChange } from './change.ts'

type Changed = MailboxStep['changed'][number]
type MailboxPart = StepPart<FoundMessage, Changed, string>

/** Each message once: a complete message wins over its removal, and a removal over a change. */
export function mailboxParts({ refetched, found, changed, removed, cursor }: MailboxStep): MailboxPart[] {
  const complete = new Map(found.map((one) => [one.message.providerMessageId, one]))
  const changes = new Map<string, Changed>()
  for (const one of changed) {
    if (complete.has(one.providerMessageId)) continue
    changes.set(one.providerMessageId, { ...changes.get(one.providerMessageId), ...one })
  }
  const removals = new Set(removed.filter((id) => !complete.has(id)))
  return splitStep({
    refetched,
    added: [...complete.values()],
    changed: [...changes.values()].filter(({ providerMessageId }) => !removals.has(providerMessageId)),
    removed: [...removals],
    cursor,
  })
}

/**
 * Stores one part of a step in one transaction: fence, rows, labels and counters, events, cursor. Throws `OwnershipLost`
 * without storing anything.
 */
export async function applyMailboxPart(deps: SyncDeps, context: MailboxContext, part: MailboxPart): Promise<void> {
  const { accountId } = context
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, context.epoch)
    const cursors = cursorStore(tx)
    const cursorId = cursorIdOf(context)
    const change = mailboxChange(deps, tx, context)
    await change.remove(part.removed)
    await change.change(part.changed)
    await change.find(part.added, part.refetched, await cursors.find(accountId, cursorId))
    await change.record()
    if (part.cursor !== undefined) await cursors.save(accountId, cursorId, { cursor: part.cursor })
  })
}

/** The id under which a scope's cursor is stored: the label's, or the account's when the entire mailbox is one scope. */
export function cursorIdOf({ accountId, scope }: Pick<MailboxContext, 'accountId' | 'scope'>): string {
  return scope?.id ?? accountId
}
