import { type SelectQueryBuilder, sql } from 'kysely'
import type { Handle, Tables } from '../../../infra/db/index.ts'
import { type Page, type PageQuery, type PageRequest, pageOf } from '../../../lib/page.ts'
import { messageStore } from '../store.ts'
import type { FolderQuery } from './folder.ts'

/** Times in ms. */
export interface ListFilter {
  labelId: string
  /** Received at this time or later. */
  after?: number | undefined
  /** Received before this time. */
  before?: number | undefined
  unread?: boolean | undefined
  hasAttachments?: boolean | undefined
}

export interface MessageListQuery extends PageQuery, FolderQuery, Omit<ListFilter, 'labelId'> {}

const COUNT_LIMIT = 10_000

/**
 * Returns one page of a label's message ids, newest `receivedAt` first, then highest id. Reads `messageLabels` alone, in
 * the order of an index, so that with a cursor page 10,000 is as fast as page 1.
 */
export async function listMessageIds(
  handle: Handle,
  accountId: string,
  filter: ListFilter,
  request: PageRequest<readonly [receivedAt: number, messageId: string]>,
  fingerprint: unknown,
): Promise<Page<string>> {
  const { after } = request
  const rows = await filtered(handle, filter)
    .select(['messageId', 'receivedAt'])
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`("receivedAt", "messageId") < (${after?.[0]}, ${after?.[1]})`),
    )
    .orderBy('receivedAt', 'desc')
    .orderBy('messageId', 'desc')
    .limit(request.limit + 1)
    .offset(request.offset)
    .execute()
  const total = await totalOf(handle, accountId, filter)
  const { items, pagination } = pageOf(rows, request, total, fingerprint, (row) => [row.receivedAt, row.messageId])
  return { items: items.map((row) => row.messageId), pagination }
}

type LabelQuery = SelectQueryBuilder<Tables, 'messageLabels', Record<never, never>>

function filtered(handle: Handle, { labelId, after, before, unread, hasAttachments }: ListFilter): LabelQuery {
  let query: LabelQuery = handle.selectFrom('messageLabels').where('labelId', '=', labelId)
  if (after !== undefined) query = query.where('receivedAt', '>=', after)
  if (before !== undefined) query = query.where('receivedAt', '<', before)
  // Literals, because the planner uses a partial index only for a condition that it can see.
  if (unread !== undefined) query = query.where('unread', '=', sql.lit(unread ? 1 : 0))
  if (hasAttachments !== undefined) query = query.where('hasAttachments', '=', sql.lit(hasAttachments ? 1 : 0))
  return query
}

/** Uses the exact counters where they cover the filter; otherwise counts up to a limit. */
async function totalOf(
  handle: Handle,
  accountId: string,
  filter: ListFilter,
): Promise<{ count: number; capped: boolean }> {
  const { labelId, after, before, unread, hasAttachments } = filter
  if (after === undefined && before === undefined && hasAttachments === undefined) {
    const counter = await messageStore(handle).count(accountId, labelId)
    if (unread === undefined) return { count: counter.total, capped: false }
    return { count: unread ? counter.unread : counter.total - counter.unread, capped: false }
  }
  const limited = filtered(handle, filter)
    .select('messageId')
    .limit(COUNT_LIMIT + 1)
    .as('limited')
  const row = await handle
    .selectFrom(limited)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const count = Number(row.count)
  return { count: Math.min(count, COUNT_LIMIT), capped: count > COUNT_LIMIT }
}
