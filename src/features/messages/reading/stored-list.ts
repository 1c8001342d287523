import { type RawBuilder, sql } from 'kysely'
import { type Db, type Dialect, type Handle, PREPARED, type Utf8 } from '../../../infra/db/index.ts'
import { type PageQuery, type PageRequest, type Pagination, pageOf } from '../../../lib/page.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { isMainFolder } from '../../labels/index.ts'
import { addMissingTexts } from '../storing/texts.ts'
import type { FolderQuery } from './folder.ts'

/** Times in ms. */
export interface ListFilter {
  /** Received at this time or later. */
  after?: number | undefined
  /** Received before this time. */
  before?: number | undefined
  unread?: boolean | undefined
  hasAttachments?: boolean | undefined
}

export interface MessageListQuery extends PageQuery, FolderQuery, ListFilter {}

/** The stored part of a message's JSON, without what `contextText` adds: `source` from `start` to `end`. */
export interface StoredText {
  folderId: string | null
  source: Buffer
  start: number
  end: number
}

export type ListRequest = PageRequest<readonly [receivedAt: number, messageId: string]>

/** The account and the label that a list reads. */
export interface ListScope {
  provider: ProviderName
  labelId: string | null
  /** The name of the folder, when the label is one. */
  folder: string | null
}

const COUNT_LIMIT = 10_000

/**
 * Reads one page of messages, newest `receivedAt` first, then highest id. Without `scope`: of the account's main folder, or
 * of all its messages for gmail and microsoft. The returned scope is undefined when there is no such account.
 * One statement, which returns few values, because the drivers' cost is per value. Page 10,000 by cursor is as fast as page 1.
 */
export async function listStored(
  db: Pick<Db, 'read' | 'dialect' | 'transaction'>,
  list: { accountId: string; scope?: ListScope; filter: ListFilter },
  request: ListRequest,
  fingerprint: unknown,
): Promise<{ items: StoredText[]; pagination: Pagination; scope: ListScope | undefined }> {
  const { keys, texts, total, provider, labelId, folder } = await readPage(db.read, db.dialect, list, request)
  const count = Number(total ?? 0)
  const capped = count > COUNT_LIMIT && isCounted(list.filter)
  const { items, pagination } = pageOf(
    rowsOf(keys, db.dialect.bytesOf(texts)),
    request,
    { count: capped ? COUNT_LIMIT : count, capped },
    fingerprint,
    (row) => [row.receivedAt, row.messageId],
  )
  const scope = provider === null ? undefined : { provider, labelId, folder }
  return { items: await withMissing(db, items), pagination, scope }
}

interface PageRow extends Omit<ListScope, 'provider'> {
  /** Null: no such account. */
  provider: ProviderName | null
  /** `<message id> <receivedAt> <bytes of the text, 0: missing> <folder id>` per line; null without messages. */
  keys: string | null
  /** The texts, one after the other. */
  texts: Utf8
  total: number | null
}

/** Returns one message more than the limit when there is one. Exported for the test of its plan. */
export async function readPage(
  handle: Handle,
  dialect: Dialect,
  { accountId, scope, filter }: { accountId: string; scope?: ListScope; filter: ListFilter },
  { after, limit, offset }: ListRequest,
): Promise<PageRow> {
  const from = after === undefined ? sql`` : sql`and ("receivedAt", "messageId") < (${after[0]}, ${after[1]})`
  // A literal limit, because PostgreSQL assumes a tenth of the table for a parameter and then plans at every run.
  const skipped = offset === 0 ? sql`` : sql`offset ${offset}`
  const key = sql`"p"."messageId" || ' ' || "p"."receivedAt" || ' ' || coalesce(octet_length("t"."text"), 0) || ' ' ||
    coalesce("t"."folderId", '')`
  const { rows } =
    await sql<PageRow>`${PREPARED}with "list" as (${scope === undefined ? defaultScope(accountId) : given(scope)})
    select string_agg(${key}, ${sql.lit('\n')}) as "keys",
      ${dialect.utf8(sql`string_agg("t"."text", '')`)} as "texts",
      ${totalOf(accountId, filter)} as "total",
      (select "provider" from "list") as "provider", ${LABEL_ID} as "labelId", (select "folder" from "list") as "folder"
    from (
      select "messageId", "receivedAt" from "messageLabels" where ${matches(filter)} ${from}
      order by "receivedAt" desc, "messageId" desc limit ${sql.lit(limit + 1)} ${skipped}
    ) as "p"
    left join "messageTexts" as "t" on "t"."messageId" = "p"."messageId"`.execute(handle)
  const [row] = rows
  if (row === undefined) throw new Error('an aggregate returned no row')
  return row
}

function given({ provider, labelId, folder }: ListScope): RawBuilder<unknown> {
  return sql`select cast(${provider} as text) as "provider", cast(${labelId} as text) as "labelId", cast(${folder} as text) as "folder"`
}

function defaultScope(accountId: string): RawBuilder<unknown> {
  // The label of all messages has the id of the account: `allMail`.
  return sql`select "provider", case when "provider" = 'imap' then "labels"."id" else "accounts"."id" end as "labelId",
      "labels"."name" as "folder"
    from "accounts" left join "labels" on "labels"."accountId" = "accounts"."id" and ${isMainFolder}
    where "accounts"."id" = ${accountId} limit 1`
}

const LABEL_ID = sql`(select "labelId" from "list")`

function matches({ after, before, unread, hasAttachments }: ListFilter): RawBuilder<unknown> {
  const conditions = [sql`"labelId" = ${LABEL_ID}`]
  if (after !== undefined) conditions.push(sql`"receivedAt" >= ${after}`)
  if (before !== undefined) conditions.push(sql`"receivedAt" < ${before}`)
  // Literals, because the planner uses a partial index only for a condition that it can see.
  if (unread !== undefined) conditions.push(sql`"unread" = ${sql.lit(unread ? 1 : 0)}`)
  if (hasAttachments !== undefined) conditions.push(sql`"hasAttachments" = ${sql.lit(hasAttachments ? 1 : 0)}`)
  return sql.join(conditions, sql` and `)
}

/** True when no counter covers the filter. */
function isCounted({ after, before, hasAttachments }: ListFilter): boolean {
  return after !== undefined || before !== undefined || hasAttachments !== undefined
}

/** Uses the exact counters where they cover the filter; otherwise counts up to a limit. */
function totalOf(accountId: string, filter: ListFilter): RawBuilder<unknown> {
  if (isCounted(filter)) {
    return sql`(select count(*) from (
      select 1 from "messageLabels" where ${matches(filter)} limit ${sql.lit(COUNT_LIMIT + 1)}) as "counted")`
  }
  const { unread } = filter
  const counter = unread === undefined ? sql`"total"` : unread ? sql`"unread"` : sql`"total" - "unread"`
  return sql`(select ${counter} from "messageCounters" where "accountId" = ${accountId} and "labelId" = ${LABEL_ID})`
}

interface Row extends StoredText {
  messageId: string
  receivedAt: number
}

/** In the order of the list: a database need not aggregate in the order of the subquery. */
function rowsOf(keys: string | null, source: Buffer): Row[] {
  if (keys === null) return []
  let end = 0
  const rows = keys.split('\n').map((key) => {
    const [messageId = '', receivedAt, bytes, folderId] = key.split(' ')
    const start = end
    end += Number(bytes)
    return { messageId, receivedAt: Number(receivedAt), folderId: folderId || null, source, start, end }
  })
  return rows.sort((a, b) => b.receivedAt - a.receivedAt || (a.messageId < b.messageId ? 1 : -1))
}

/** Adds the texts that are missing. Leaves out messages that were deleted meanwhile. */
async function withMissing(db: Pick<Db, 'dialect' | 'transaction'>, rows: readonly Row[]): Promise<StoredText[]> {
  const missing = rows.filter((row) => row.start === row.end).map((row) => row.messageId)
  if (missing.length === 0) return [...rows]
  const added = await db.transaction((tx) => addMissingTexts(tx, db.dialect, missing))
  return rows.flatMap((row) => {
    if (row.end > row.start) return row
    const text = added.get(row.messageId)
    return text === undefined ? [] : textOf(text.folderId, text.text)
  })
}

export function textOf(folderId: string | null, text: string): StoredText {
  const source = Buffer.from(text)
  return { folderId, source, start: 0, end: source.length }
}
