import {
  type ChangedMessage,
  failedEach,
  type MailChanges,
  type MessageChange,
  ProviderError,
} from '../contract/index.ts'
import { text } from '../rest/index.ts'
import { type BatchItem, type BatchResult, type Graph, messagePath, SYNC_LIMITS } from './client.ts'
import { microsoftFolderChanges } from './folder-changes.ts'
import { flagsOf } from './map.ts'

interface Ref {
  providerMessageId: string
}

const CHANGING = 'changing messages'
const DELETING = 'deleting messages'
const STATE = { $select: 'isRead,flag,parentFolderId' }
/** Messages whose result is lost together when a request fails. */
const CHUNK = 20

/** Sets flags first, then moves. With immutable ids a moved message keeps its id. */
export function microsoftChanges(graph: Graph): MailChanges<Ref> {
  async function send(items: readonly BatchItem[], doing: string): Promise<BatchResult[]> {
    const results: BatchResult[] = []
    for (let start = 0; start < items.length; start += CHUNK) {
      const chunk = items.slice(start, start + CHUNK)
      try {
        const received = await graph.batch(chunk, { doing, ...SYNC_LIMITS })
        results.push(...chunk.map((item) => received.get(item) ?? {}))
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        results.push(...failedEach(chunk, error))
      }
    }
    return results
  }

  /** Graph does not document whether a move to the message's own folder succeeds. */
  async function unlessThere(changes: readonly MessageChange<Ref>[], moved: readonly BatchResult[]) {
    const isRefused = (result: BatchResult | undefined) => result instanceof ProviderError && result.kind === 'rejected'
    const refused = changes.filter((_, index) => isRefused(moved[index]))
    const states = await send(refused.map(readItem), CHANGING)
    return moved.map((result, index) => {
      const change = changes[index]
      const state = change === undefined ? undefined : states[refused.indexOf(change)]
      const isThere =
        state !== undefined && !(state instanceof ProviderError) && state.parentFolderId === change?.add?.[0]
      return isThere ? state : result
    })
  }

  return {
    ...microsoftFolderChanges(graph),

    async changeMessages(changes) {
      const results = new Map<MessageChange<Ref>, BatchResult>()
      const flagged = changes.filter(({ unread, starred }) => unread !== undefined || starred !== undefined)
      const flags = await send(flagged.map(flagItem), CHANGING)
      flagged.forEach((change, index) => void results.set(change, flags[index] ?? {}))

      const moving = changes.filter((change) => hasTarget(change) && !(results.get(change) instanceof ProviderError))
      const moved = await unlessThere(moving, await send(moving.map(moveItem), CHANGING))
      moving.forEach((change, index) => void results.set(change, moved[index] ?? {}))

      const unchanged = changes.filter((change) => !results.has(change))
      const read = await send(unchanged.map(readItem), CHANGING)
      unchanged.forEach((change, index) => void results.set(change, read[index] ?? {}))
      return changes.map((change) => changedMessage(results.get(change)))
    },

    async deleteMessages(messages) {
      const items = messages.map(({ providerMessageId }) => ({
        ...{ method: 'POST' as const, path: `${messagePath(providerMessageId)}/permanentDelete` },
      }))
      const results = await send(items, DELETING)
      return results.map((result) =>
        result instanceof ProviderError && result.kind !== 'not_found' ? result : ('deleted' as const),
      )
    },
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
  const { unread, starred } = flagsOf(result ?? {})
  const folder = text(result?.parentFolderId)
  if (unread === undefined || starred === undefined || folder === undefined) {
    return new ProviderError('unavailable', `${CHANGING}: a response could not be read`)
  }
  return { unread, starred, folders: [folder] }
}
