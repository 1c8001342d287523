import type { FoundMessage, MailboxStep } from '../../../providers/contract/index.ts'
import type { SyncDeps } from '../deps.ts'
import { type StepPart, splitStep } from '../folders/step.ts'
import { cursorStore } from '../store.ts'
import { type MailboxContext, mailboxChange } from './change.ts'

type Changed = MailboxStep['changed'][number]
type MailboxPart = StepPart<FoundMessage, Changed, string>

/** Each mail once: what was seen whole stands, then what is known of it, then that it left. */
export function mailboxParts({ refetched, found, changed, removed, cursor }: MailboxStep): MailboxPart[] {
  const whole = new Map(found.map((one) => [one.message.providerMessageId, one]))
  const told = new Map<string, Changed>()
  for (const one of changed) {
    if (whole.has(one.providerMessageId)) continue
    told.set(one.providerMessageId, { ...told.get(one.providerMessageId), ...one })
  }
  const left = new Set(removed.filter((id) => !whole.has(id)))
  return splitStep({
    refetched,
    added: [...whole.values()],
    changed: [...told.values()].filter(({ providerMessageId }) => !left.has(providerMessageId)),
    removed: [...left],
    cursor,
  })
}

/**
 * Stores one part of a step in one transaction: fence, rows, labels and counters, events, cursor. Throws `OwnershipLost`; then nothing
 * happened.
 */
export async function applyMailboxPart(deps: SyncDeps, context: MailboxContext, part: MailboxPart): Promise<void> {
  const { accountId } = context
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, context.epoch)
    const cursors = cursorStore(tx)
    const positionId = positionOf(context)
    const change = mailboxChange(deps, tx, context)
    await change.remove(part.removed)
    await change.change(part.changed)
    await change.find(part.added, part.refetched, await cursors.find(accountId, positionId))
    await change.record()
    if (part.cursor !== undefined) await cursors.save(accountId, positionId, { cursor: part.cursor })
  })
}

/** Under which id the position of a scope is kept: its label's, or the account's where the mailbox is one scope. */
export function positionOf({ accountId, scope }: Pick<MailboxContext, 'accountId' | 'scope'>): string {
  return scope?.id ?? accountId
}
