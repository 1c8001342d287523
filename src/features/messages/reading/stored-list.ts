import { type SelectQueryBuilder, sql } from 'kysely'
import type { Handle, Tables } from '../../../infra/db/index.ts'
import { type Page, type PageRequest, pageOf } from '../../../lib/page.ts'
import { messageStore } from '../store.ts'

/** What a list of one label may be narrowed to. Times in ms. */
export interface ListFilter {
  labelId: string
  /** Received at this time or later. */
  after?: number | undefined
  /** Received before this time. */
  before?: number | undefined
  unread?: boolean | undefined
  hasAttachments?: boolean | undefined
}

const COUNT_LIMIT = 10_000

/**
 * One page of a label's messages, newest `receivedAt` first, then id: their ids. Everything is read from `messageLabels`, in the
 * order of one of its indexes; a cursor makes page 10,000 cost what page 1 does.
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
  const page = pageOf(rows, request, total, fingerprint, (row) => [row.receivedAt, row.messageId])
  return { ...page, items: page.items.map((row) => row.messageId) }
}

type LabelQuery = SelectQueryBuilder<Tables, 'messageLabels', Record<never, never>>

function filtered(handle: Handle, { labelId, after, before, unread, hasAttachments }: ListFilter): LabelQuery {
  let query: LabelQuery = handle.selectFrom('messageLabels').where('labelId', '=', labelId)
  if (after !== undefined) query = query.where('receivedAt', '>=', after)
  if (before !== undefined) query = query.where('receivedAt', '<', before)
  // Literals, because a partial index serves a query only when its condition is seen while planning.
  if (unread !== undefined) query = query.where('unread', '=', sql.lit(unread ? 1 : 0))
  if (hasAttachments !== undefined) query = query.where('hasAttachments', '=', sql.lit(hasAttachments ? 1 : 0))
  return query
}

/** Exact from the counters where they know it; else counted, up to a limit. */
async function totalOf(
  handle: Handle,
  accountId: string,
  filter: ListFilter,
): Promise<{ count: number; capped: boolean }> {
  const { after, before, unread, hasAttachments } = filter
  if (after === undefined && before === undefined && hasAttachments === undefined) {
    const counter = await messageStore(handle).count(accountId, filter.labelId)
    const read = counter.total - counter.unread
    const count = unread === undefined ? counter.total : unread ? counter.unread : read
    return { count, capped: false }
  }
  const { count } = await handle
    .selectFrom(
      filtered(handle, filter)
        .select('messageId')
        .limit(COUNT_LIMIT + 1)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count) > COUNT_LIMIT ? { count: COUNT_LIMIT, capped: true } : { count: Number(count), capped: false }
}
