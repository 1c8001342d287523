import { openMailbox } from '../../../accounts/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type {
  ChangedMessage,
  MailChanges,
  MessageChange,
  Permission,
  ProviderError,
} from '../../../providers/contract/index.ts'
import { type LiveAccessDeps, locationOf, type MessageRef } from '../read/live-access.ts'

export type ChangeOutcome = ChangedMessage | ProviderError | AppError | undefined

/** `MailChanges` for stored messages, however the provider identifies them. A message whose location is unknown is `not_ready`. */
export interface MailboxChanges {
  changeMessages(changes: readonly MessageChange<MessageRef>[]): Promise<ChangeOutcome[]>
  deleteMessages(messages: readonly MessageRef[]): Promise<('deleted' | ProviderError | AppError | undefined)[]>
}

/** Throws as `openMailbox` does. */
export async function openChanges(
  deps: LiveAccessDeps,
  accountId: string,
  permission: Permission,
): Promise<MailboxChanges> {
  const { mail, access } = await openMailbox(deps, accountId, permission)
  if (mail.kind === 'folders') return changesOf(mail.changes(access), locationOf)
  return changesOf(mail.changes(access), ({ providerMessageId }) => ({ providerMessageId }))
}

function changesOf<Ref>(changes: MailChanges<Ref>, refOf: (message: MessageRef) => Ref): MailboxChanges {
  return {
    changeMessages: (items) =>
      sendKnown(
        items,
        (item) => ({ ...item, message: refOf(item.message) }),
        (known) => changes.changeMessages(known),
      ),
    deleteMessages: (items) => sendKnown(items, refOf, (known) => changes.deleteMessages(known)),
  }
}

/** Sends the items that can be named at the provider, and returns the error of the others in their place. */
async function sendKnown<Item, Known, Result>(
  items: readonly Item[],
  nameOf: (item: Item) => Known,
  send: (known: readonly Known[]) => Promise<Result[]>,
): Promise<(Result | AppError | undefined)[]> {
  const named = items.map((item) => {
    try {
      return { known: nameOf(item) }
    } catch (error) {
      if (error instanceof AppError) return { error }
      throw error
    }
  })
  const known = named.flatMap((one) => ('known' in one ? [one.known] : []))
  const results = known.length === 0 ? [] : await send(known)
  let next = 0
  return named.map((one) => {
    if ('error' in one) return one.error
    next += 1
    return results[next - 1]
  })
}
