import type {
  FailedMessage,
  FoundMessage,
  ReadAgain,
  ReadAgainRequest,
} from '../../../../src/providers/contract/index.ts'
import { foundMessage } from './found.ts'
import type { DoubleState } from './mailbox-double.ts'

/** Separates the messages that can never be read. `knows`: the provider says where they are, and when they were received. */
export function readable(
  state: DoubleState,
  all: readonly FoundMessage[],
  knows: boolean,
): { found: FoundMessage[]; failed: FailedMessage[] } {
  const unreadable = new Set(state.unreadable ?? [])
  const fails = ({ message }: FoundMessage) => unreadable.has(message.providerMessageId)
  const failed = all.filter(fails).map(({ message, folders }) => {
    const { providerMessageId, isNew, receivedAt, unread, starred } = message
    const state = knows ? { receivedAt, unread, starred, folders } : {}
    return { providerMessageId, isNew, reason: 'the provider failed (500)', ...state }
  })
  return { found: all.filter((message) => !fails(message)), failed }
}

export async function readAgainDouble(
  state: DoubleState,
  { ids, control }: ReadAgainRequest,
  knows: boolean,
): Promise<ReadAgain> {
  const present = ids.flatMap((id) => state.messages[id] ?? [])
  const messages = present.map((message) => foundMessage(message, Number.POSITIVE_INFINITY))
  const { found, failed } = readable(state, messages, knows)
  return {
    found,
    failed,
    removed: ids.filter((id) => state.messages[id] === undefined),
    isReading: found.length > 0 || (await control?.()) !== null,
  }
}
