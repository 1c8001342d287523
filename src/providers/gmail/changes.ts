import { Type } from 'typebox'
import type { Clock } from '../../lib/clock.ts'
import { rethrowProgrammingError } from '../../lib/programming-errors.ts'
import {
  type ChangedMessage,
  failedEach,
  type MailChanges,
  type MessageChange,
  ProviderError,
} from '../contract/index.ts'
import { parser, type RestMailbox } from '../rest/index.ts'
import type { BatchRequest } from './batch-parts.ts'
import { COST, type FetchResult, messagePath, sendBatches } from './client.ts'
import { gmailFolderChanges } from './folder-changes.ts'
import { labelState, STARRED, UNREAD } from './folders.ts'

interface Ref {
  providerMessageId: string
}

const CHANGING = 'changing messages'
const DELETING = 'deleting messages'
const FIELDS = 'fields=id,labelIds'
/** Messages whose result is lost together when a request fails. */
const CHUNK = 50

const parseLabelled = parser(Type.Object({ labelIds: Type.Optional(Type.Array(Type.String())) }))

/** Changes one message per request, in batches, because `batchModify` reports nothing about single messages. */
export function gmailChanges(mailbox: RestMailbox, clock: Clock): MailChanges<Ref> {
  async function send<Result>(
    requests: readonly BatchRequest[],
    options: { doing: string; cost: number },
    read: (result: FetchResult | undefined) => Result,
  ): Promise<(Result | ProviderError)[]> {
    const results: (Result | ProviderError)[] = []
    for (let start = 0; start < requests.length; start += CHUNK) {
      const chunk = requests.slice(start, start + CHUNK)
      try {
        const received = await sendBatches(mailbox, chunk, { ...options, clock })
        results.push(...chunk.map((request) => read(received.get(request))))
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        results.push(...failedEach(chunk, error))
      }
    }
    return results
  }

  return {
    ...gmailFolderChanges(mailbox),
    changeMessages: (changes) =>
      send(changes.map(changeRequest), { doing: CHANGING, cost: COST.modify }, changedMessage),

    deleteMessages: (messages) =>
      send(
        messages.map(({ providerMessageId }) => ({ method: 'DELETE' as const, path: messagePath(providerMessageId) })),
        { doing: DELETING, cost: COST.delete },
        (result) => (result instanceof ProviderError && result.kind !== 'not_found' ? result : 'deleted'),
      ),
  }
}

function changeRequest({ message, unread, starred, add = [], remove = [] }: MessageChange<Ref>): BatchRequest {
  const path = messagePath(message.providerMessageId)
  const flags = [
    { label: UNREAD, isSet: unread },
    { label: STARRED, isSet: starred },
  ]
  const addLabelIds = [...add, ...flags.filter(({ isSet }) => isSet === true).map(({ label }) => label)]
  const removeLabelIds = [...remove, ...flags.filter(({ isSet }) => isSet === false).map(({ label }) => label)]
  // Gmail refuses a change of nothing.
  if (addLabelIds.length + removeLabelIds.length === 0) {
    return { method: 'GET', path: `${path}?format=minimal&${FIELDS}` }
  }
  return { method: 'POST', path: `${path}/modify?${FIELDS}`, json: { addLabelIds, removeLabelIds } }
}

function changedMessage(result: FetchResult | undefined): ChangedMessage | ProviderError {
  if (result instanceof ProviderError) return result
  try {
    return labelState(parseLabelled(result).labelIds ?? [])
  } catch (error) {
    rethrowProgrammingError(error)
    return new ProviderError('unavailable', `${CHANGING}: a response could not be read`)
  }
}
