import { type ChangedMessage, type MailEdits, type MessageChange, ProviderError } from '../contract/index.ts'
import { text } from '../shared/rest/index.ts'
import { type BatchItem, type BatchResult, type Graph, messagePath } from './client.ts'
import { deleteForGood } from './deletion.ts'
import { microsoftFolderEdits } from './folder-edits.ts'
import { readFlags } from './map.ts'
import { sendEach } from './send-each.ts'

interface Ref {
  providerMessageId: string
}

const CHANGING = 'changing messages'
const STATE = { $select: 'isRead,flag,parentFolderId' }

/** Sets flags first, then moves. With immutable ids a moved message keeps its id. */
export function microsoftEdits(graph: Graph): MailEdits<Ref> {
  const send = (items: readonly BatchItem[]) => sendEach(graph, items, { doing: CHANGING })

  /** Graph does not document whether a move to the message's own folder succeeds. */
  async function unlessThere(changes: readonly MessageChange<Ref>[], moved: readonly BatchResult[]) {
    const isRefused = (result: BatchResult | undefined) => result instanceof ProviderError && result.kind === 'rejected'
    const refused = changes.filter((_, index) => isRefused(moved[index]))
    const read = await send(refused.map(readItem))
    const states = new Map(refused.map((change, index) => [change, read[index]]))
    return moved.map((result, index) => {
      const change = changes[index]
      const state = change && states.get(change)
      const isThere =
        state !== undefined && !(state instanceof ProviderError) && state.parentFolderId === change?.add?.[0]
      return isThere ? state : result
    })
  }

  return {
    ...microsoftFolderEdits(graph),

    async changeMessages(changes) {
      const results = new Map<MessageChange<Ref>, BatchResult>()
      const flagged = changes.filter(({ unread, starred }) => unread !== undefined || starred !== undefined)
      const flags = await send(flagged.map(flagItem))
      flagged.forEach((change, index) => void results.set(change, flags[index] ?? {}))

      const moving = changes.filter((change) => hasTarget(change) && !(results.get(change) instanceof ProviderError))
      const moved = await unlessThere(moving, await send(moving.map(moveItem)))
      moving.forEach((change, index) => void results.set(change, moved[index] ?? {}))

      const unchanged = changes.filter((change) => !results.has(change))
      const read = await send(unchanged.map(readItem))
      unchanged.forEach((change, index) => void results.set(change, read[index] ?? {}))
      return changes.map((change) => changedMessage(results.get(change)))
    },

    deleteMessages: (messages) =>
      deleteForGood(
        graph,
        messages.map(({ providerMessageId }) => providerMessageId),
        { doing: 'deleting messages' },
      ),
  }
}

function hasTarget({ add = [] }: MessageChange<Ref>): boolean {
  return add.length > 0
}

function flagItem({ message, unread, starred }: MessageChange<Ref>): BatchItem {
  const body = {
    ...(unread !== undefined && { isRead: !unread }),
    ...(starred !== undefined && { flag: { flagStatus: starred ? 'flagged' : 'notFlagged' } }),
  }
  return { method: 'PATCH', path: messagePath(message.providerMessageId), body }
}

function moveItem({ message, add = [] }: MessageChange<Ref>): BatchItem {
  return { method: 'POST', path: `${messagePath(message.providerMessageId)}/move`, body: { destinationId: add[0] } }
}

function readItem({ message }: MessageChange<Ref>): BatchItem {
  return { path: messagePath(message.providerMessageId), query: STATE }
}

function changedMessage(result: BatchResult | undefined): ChangedMessage | ProviderError {
  if (result instanceof ProviderError) return result
  const { unread, starred } = readFlags(result ?? {})
  const folder = text(result?.parentFolderId)
  if (unread === undefined || starred === undefined || folder === undefined) {
    return new ProviderError('unavailable', `${CHANGING}: a response could not be read`)
  }
  return { unread, starred, folders: [folder] }
}
