import * as Type from 'typebox'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ChangedMessage, type MailEdits, type MessageChange, ProviderError } from '../contract/index.ts'
import { parser } from '../shared/rest/index.ts'
import type { BatchRequest } from './batch-parts.ts'
import { type FetchResult, messagePath, sendBatches } from './client.ts'
import { gmailFolderEdits } from './folder-edits.ts'
import { labelState, STARRED, UNREAD } from './folders.ts'
import type { GmailMailbox } from './quota.ts'

interface Ref {
  providerMessageId: string
}

const CHANGING = 'changing messages'
const DELETING = 'deleting messages'
const FIELDS = 'fields=id,labelIds'
/** Messages without a result fail together when a request fails. */
const CHUNK = 50

const parseLabelled = parser(Type.Object({ labelIds: Type.Optional(Type.Array(Type.String())) }))

/** Changes one message per request, in batches, because `batchModify` reports nothing about single messages. */
export function gmailEdits(mailbox: GmailMailbox, clock: Clock): MailEdits<Ref> {
  async function send<Result>(
    requests: readonly BatchRequest[],
    options: { doing: string; cost: number },
    read: (result: FetchResult) => Result,
  ): Promise<(Result | ProviderError)[]> {
    const results = new Map<BatchRequest, Result | ProviderError>()
    for (let start = 0; start < requests.length; start += CHUNK) {
      const chunk = requests.slice(start, start + CHUNK)
      try {
        for await (const received of sendBatches(mailbox, chunk, { ...options, clock })) {
          for (const [request, result] of received) results.set(request, read(result))
        }
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        for (const request of chunk) if (!results.has(request)) results.set(request, error)
      }
    }
    return requests.map((request) => results.get(request) ?? new ProviderError('unavailable', options.doing))
  }

  return {
    ...gmailFolderEdits(mailbox),
    changeMessages: (changes) =>
      send(changes.map(changeRequest), { doing: CHANGING, cost: mailbox.costs.modify }, changedMessage),

    deleteMessages: (messages) =>
      send(
        messages.map(({ providerMessageId }) => ({ method: 'DELETE' as const, path: messagePath(providerMessageId) })),
        { doing: DELETING, cost: mailbox.costs.delete },
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

function changedMessage(result: FetchResult): ChangedMessage | ProviderError {
  if (result instanceof ProviderError) return result
  try {
    return labelState(parseLabelled(result).labelIds ?? [])
  } catch (error) {
    rethrowProgrammingError(error)
    return new ProviderError('unavailable', `${CHANGING}: a response could not be read`)
  }
}
