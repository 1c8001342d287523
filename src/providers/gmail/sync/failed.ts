import { type FailedMessage, ProviderError } from '../../contract/index.ts'
import { object, text } from '../../shared/rest/index.ts'
import type { FetchResult } from '../client.ts'
import { labelState } from '../folders.ts'
import { readLabels } from '../map.ts'

/** `result`: what a shorter response says of the message. */
export function failedMessage(
  id: string,
  { message: reason }: ProviderError,
  isNew: boolean,
  result?: FetchResult,
): FailedMessage {
  if (typeof result !== 'object' || result instanceof ProviderError) return { providerMessageId: id, reason, isNew }
  const { threadId, internalDate } = object(result)
  const receivedAt = Number(text(internalDate) ?? Number.NaN)
  return {
    providerMessageId: id,
    reason,
    isNew,
    ...labelState(readLabels(result)),
    ...(text(threadId) !== undefined && { threadId: text(threadId) ?? '' }),
    ...(Number.isSafeInteger(receivedAt) && receivedAt >= 0 && { receivedAt }),
  }
}
