import { type FoundMessage, ProviderError, type RemoteAttachment } from '../contract/index.ts'
import type { Header } from '../shared/mime/index.ts'
import { type Json, list, resultOfEach, text } from '../shared/rest/index.ts'
import { type BatchItem, type BatchResult, type Graph, messagePath, SYNC_LIMITS } from './client.ts'
import {
  ATTACHMENT_FIELDS,
  foundMessage,
  hasProperties,
  isDamaged,
  isReply,
  mapAttachments,
  mayHaveAttachments,
  PROPERTY_FIELDS,
  readHeaders,
  threadProperties,
} from './map.ts'

export interface DetailsContext {
  /** Used when Graph names no folder for a message. */
  folderId: string
  isNew(item: Json): boolean
  nowMs: number
  signal: AbortSignal
}

const DOING = 'reading details of messages'

/** The requests that complete a message, as far as they are needed. */
interface Requests {
  attachments?: BatchItem
  /** Its properties, its header, or both. */
  values?: BatchItem
}

type Results = { [Name in keyof Requests]: BatchResult | undefined }

/**
 * Completes messages with what their items lack: attachments, the properties that a delta query cannot return, and the headers of new
 * replies, which say whether a program wrote them, and of messages whose fields are damaged. All of it in as few requests as possible.
 */
export async function withDetails(
  graph: Graph,
  items: readonly Json[],
  context: DetailsContext,
): Promise<FoundMessage[]> {
  const requests = new Map(items.map((item) => [item, requestsFor(item, context)]))
  const wanted = [...requests.values()].flatMap(({ attachments, values }) => [attachments, values])
  const options = { doing: DOING, signal: context.signal, isolates: true, ...SYNC_LIMITS }
  const read = (some: readonly BatchItem[]) => graph.batch(some, options)
  const results = await resultOfEach(
    wanted.filter((item) => item !== undefined),
    read,
  )
  const refused = wanted.filter((item) => item?.query?.$expand !== undefined && isRefused(results.get(item)))
  const headers = new Map(refused.map((item) => [item, headersOnly(item)]))
  const instead = await resultOfEach([...headers.values()], read)
  return items.map((item) => {
    const { attachments, values } = requests.get(item) ?? {}
    const header = headers.get(values)
    const found = header === undefined ? values && results.get(values) : withoutProperties(instead.get(header))
    return completed(item, { attachments: attachments && results.get(attachments), values: found }, context)
  })
}

function requestsFor(item: Json, { isNew }: DetailsContext): Requests {
  const path = messagePath(text(item.id) ?? '')
  const needsProperties = !hasProperties(item)
  const mayBeAutomatic = isNew(item) && (needsProperties || isReply(item))
  const needsHeader = mayBeAutomatic || isDamaged(item)
  const query = {
    $select: needsHeader ? 'id,internetMessageHeaders' : 'id',
    ...(needsProperties && PROPERTY_FIELDS),
  }
  return {
    ...(mayHaveAttachments(item) && {
      attachments: { path: `${path}/attachments`, query: { $select: ATTACHMENT_FIELDS } },
    }),
    ...((needsProperties || needsHeader) && { values: { path, query } }),
  }
}

/** The cloud of China has no properties of messages. */
function isRefused(result: BatchResult | undefined): boolean {
  return result instanceof ProviderError && result.kind === 'rejected'
}

function headersOnly(request: BatchItem | undefined): BatchItem {
  return { path: request?.path ?? '', query: { $select: 'id,internetMessageHeaders' } }
}

function withoutProperties(result: BatchResult | undefined): BatchResult | undefined {
  if (result === undefined || result instanceof ProviderError) return result
  return { ...result, singleValueExtendedProperties: threadProperties(readHeaders(result)) }
}

function completed(item: Json, results: Results, { folderId, isNew, nowMs }: DetailsContext): FoundMessage {
  const values = results.values instanceof ProviderError ? undefined : results.values
  const attachments: RemoteAttachment[] =
    results.attachments instanceof ProviderError ? [] : mapAttachments(list(results.attachments?.value))
  const headers: Header[] = values === undefined ? [] : readHeaders(values)
  const properties = hasProperties(item) ? {} : { singleValueExtendedProperties: values?.singleValueExtendedProperties }
  return foundMessage(
    { ...item, ...properties },
    { folder: folderId, nowMs, isNew: isNew(item), attachments, headers, error: describeError(item, results) },
  )
}

function describeError(item: Json, { attachments, values }: Results): string | null {
  // The next round reports a message that was deleted meanwhile.
  const isFailed = (result: BatchResult | undefined) => result instanceof ProviderError && result.kind !== 'not_found'
  if (isFailed(attachments)) return 'the attachments of this message could not be listed'
  const lacksValues = !hasProperties(item) && isFailed(values)
  return lacksValues ? 'the size and the thread of this message could not be read' : null
}
