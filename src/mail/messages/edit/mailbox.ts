import { openMailbox } from '../../../accounts/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type {
  ChangedMessage,
  MailEdits,
  MessageChange,
  Permission,
  ProviderError,
} from '../../../providers/contract/index.ts'
import { type LiveAccessDeps, type MessageRef, requireLocation } from '../read/live-access.ts'

export type ChangeOutcome = ChangedMessage | ProviderError | AppError | undefined

/** `MailEdits` for stored messages, however the provider identifies them. A message whose location is unknown is `not_ready`. */
export interface MailboxEdits {
  changeMessages(changes: readonly MessageChange<MessageRef>[]): Promise<ChangeOutcome[]>
  deleteMessages(messages: readonly MessageRef[]): Promise<('deleted' | ProviderError | AppError | undefined)[]>
}

/** Throws as `openMailbox` does. */
export async function openChanges(
  deps: LiveAccessDeps,
  accountId: string,
  permission: Permission,
): Promise<MailboxEdits> {
  const { mail, access } = await openMailbox(deps, accountId, permission)
  if (mail.kind === 'folders') return toMailboxEdits(mail.edits(access), requireLocation)
  return toMailboxEdits(mail.edits(access), ({ providerMessageId }) => ({ providerMessageId }))
}

function toMailboxEdits<Ref>(edits: MailEdits<Ref>, toRef: (message: MessageRef) => Ref): MailboxEdits {
  return {
    changeMessages: (items) =>
      sendKnown(
        items,
        (item) => ({ ...item, message: toRef(item.message) }),
        (items) => edits.changeMessages(items),
      ),
    deleteMessages: (items) => sendKnown(items, toRef, (items) => edits.deleteMessages(items)),
  }
}

/** Sends the items that can be named at the provider, and returns the error of the others in their place. */
async function sendKnown<Item, Known, Result>(
  items: readonly Item[],
  toKnown: (item: Item) => Known,
  send: (items: readonly Known[]) => Promise<Result[]>,
): Promise<(Result | AppError | undefined)[]> {
  const named = items.map((item) => {
    try {
      return { known: toKnown(item) }
    } catch (error) {
      if (error instanceof AppError) return { error }
      throw error
    }
  })
  const sendable = named.flatMap((result) => ('known' in result ? [result.known] : []))
  const results = sendable.length === 0 ? [] : await send(sendable)
  let next = 0
  return named.map((result) => {
    if ('error' in result) return result.error
    next += 1
    return results[next - 1]
  })
}
