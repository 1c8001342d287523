import { type RawBuilder, sql } from 'kysely'
import { type Db, type Dialect, type Handle, PREPARED, type Utf8 } from '../../../platform/db/index.ts'
import { buildPage, type PageQuery, type PageRequest, type Pagination } from '../../../platform/formats/pagination.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { isMainFolder } from '../../labels/index.ts'
import { addMissingTexts } from '../rows/stored-json.ts'
import type { FolderQuery } from './requested-folder.ts'
import type { SearchWords } from './search-contract.ts'

/** Times in ms. */
export interface ListFilter {
  /** Received at this time or later. */
  after?: number | undefined
  /** Received before this time. */
  before?: number | undefined
  unread?: boolean | undefined
  hasAttachments?: boolean | undefined
}

export interface MessageListQuery extends PageQuery, FolderQuery, ListFilter, SearchWords {}

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

interface StoredPage {
  items: StoredText[]
  pagination: Pagination
  /** False: a message of the page has no stored text yet and was left out. */
  isComplete: boolean
  /** Undefined: there is no such account. */
  scope: ListScope | undefined
}

const COUNT_LIMIT = 10_000
/** Messages may lose their text, or arrive without one, between two attempts. */
const ATTEMPTS = 3

/**
 * Reads one page of messages, newest `receivedAt` first, then highest id. Without `scope`: of the account's main folder, or
 * of all its messages for gmail and microsoft. The returned scope is undefined when there is no such account.
 * One statement, which returns few values, because the drivers' cost is per value. Page 10,000 by cursor is as fast as page 1.
 */
export async function listStored(
  db: Pick<Db, 'read' | 'dialect' | 'transaction'>,
  list: StoredList,
  request: ListRequest,
  fingerprint: unknown,
): Promise<StoredPage> {
  const { lines, total, missing, provider, labelId, folder } = await completePage(db, list, request)
  const count = Number(total ?? 0)
  const capped = count > COUNT_LIMIT && isCounted(list.filter)
  const { items, pagination } = buildPage(
    splitLines(db.dialect.toBytes(lines)),
    request,
    { count: capped ? COUNT_LIMIT : count, capped },
    fingerprint,
    readPosition,
  )
  const isComplete = Number(missing) === 0
  return { items, pagination, isComplete, scope: provider === null ? undefined : { provider, labelId, folder } }
}

export interface StoredList {
  accountId: string
  scope?: ListScope
  filter: ListFilter
}

/** Reads a page again after it has added texts that were missing. */
async function completePage(
  db: Pick<Db, 'read' | 'dialect' | 'transaction'>,
  list: StoredList,
  request: ListRequest,
): Promise<PageRow> {
  for (let attempt = 1; ; attempt += 1) {
    const page = await readPage(db.read, db.dialect, list, request)
    if (Number(page.missing) === 0 || attempt === ATTEMPTS) return page
    const { rows } = await sql<{ messageId: string }>`with "list" as (${selectScope(list)})
      select "messageId" from (${selectKeys(list.filter, request)}) as "p"
      where not exists (select 1 from "messageTexts" as "t" where "t"."messageId" = "p"."messageId")`.execute(db.read)
    const ids = rows.map(({ messageId }) => messageId)
    if (ids.length > 0) await db.transaction((tx) => addMissingTexts(tx, db.dialect, ids))
  }
}

/** The account's main folder, or all its messages for gmail and microsoft. Undefined when there is no such account. */
export async function readDefaultScope(handle: Handle, accountId: string): Promise<ListScope | undefined> {
  return (await sql<ListScope>`${defaultScope(accountId)}`.execute(handle)).rows[0]
}

interface PageRow extends Omit<ListScope, 'provider'> {
  /** Null: no such account. */
  provider: ProviderName | null
  /** The texts, each after the id of its folder. JSON has no line breaks. */
  lines: Utf8
  /** How many messages of the page have no text. */
  missing: number
  total: number | null
}

/** Returns one message more than the limit when there is one. Exported for the test of its plan. */
export async function readPage(
  handle: Handle,
  dialect: Dialect,
  list: StoredList,
  request: ListRequest,
): Promise<PageRow> {
  const line = sql`coalesce("t"."folderId", '') || "t"."text"`
  const { rows } = await sql<PageRow>`${PREPARED}with "list" as (${selectScope(list)})
    select ${dialect.utf8(sql`string_agg(${line}, ${sql.lit('\n')})`)} as "lines",
      count(*) - count("t"."messageId") as "missing",
      ${selectTotal(list.accountId, list.filter)} as "total",
      (select "provider" from "list") as "provider", ${LABEL_ID} as "labelId", (select "folder" from "list") as "folder"
    from (${selectKeys(list.filter, request)}) as "p"
    left join "messageTexts" as "t" on "t"."messageId" = "p"."messageId"`.execute(handle)
  const [row] = rows
  if (row === undefined) throw new Error('an aggregate returned no row')
  return row
}

function selectKeys(filter: ListFilter, { after, limit, offset }: ListRequest): RawBuilder<unknown> {
  const from = after === undefined ? sql`` : sql`and ("receivedAt", "messageId") < (${after[0]}, ${after[1]})`
  // A literal limit, because PostgreSQL assumes a tenth of the table for a parameter and then plans at every run.
  const skipped = offset === 0 ? sql`` : sql`offset ${offset}`
  return sql`select "messageId", "receivedAt" from "messageLabels" where ${matches(filter)} ${from}
    order by "receivedAt" desc, "messageId" desc limit ${sql.lit(limit + 1)} ${skipped}`
}

function selectScope({ accountId, scope }: StoredList): RawBuilder<unknown> {
  return scope === undefined ? defaultScope(accountId) : selectGiven(scope)
}

function selectGiven({ provider, labelId, folder }: ListScope): RawBuilder<unknown> {
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
function selectTotal(accountId: string, filter: ListFilter): RawBuilder<unknown> {
  if (isCounted(filter)) {
    return sql`(select count(*) from (
      select 1 from "messageLabels" where ${matches(filter)} limit ${sql.lit(COUNT_LIMIT + 1)}) as "counted")`
  }
  const { unread } = filter
  const counter = unread === undefined ? sql`"total"` : unread ? sql`"unread"` : sql`"total" - "unread"`
  return sql`(select ${counter} from "messageCounters" where "accountId" = ${accountId} and "labelId" = ${LABEL_ID})`
}

const LINE_BREAK = 10
const BRACE = 123
const ID_START = '{"id":"'.length
/** Quotes within a text are escaped, so no subject contains this. */
const RECEIVED_AT = Buffer.from('"receivedAt":"')
const TIME_LENGTH = '2026-11-20T07:59:58.000Z'.length

interface Line extends StoredText {
  /** Where the value of `receivedAt` begins. */
  receivedAt: number
}

/** In the order of the list: a database need not aggregate in the order of the subquery. */
function splitLines(source: Buffer): Line[] {
  const lines: Line[] = []
  let isSorted = true
  for (let at = 0; at < source.length; ) {
    const newline = source.indexOf(LINE_BREAK, at)
    const end = newline === -1 ? source.length : newline
    const start = source.indexOf(BRACE, at)
    const folderId = start === at ? null : source.toString('latin1', at, start)
    const line = { folderId, source, start, end, receivedAt: source.indexOf(RECEIVED_AT, start) + RECEIVED_AT.length }
    const before = lines.at(-1)
    if (before !== undefined && compareLines(before, line) > 0) isSorted = false
    lines.push(line)
    at = end + 1
  }
  return isSorted ? lines : lines.sort(compareLines)
}

/** Compares bytes: times and ids of one length sort like text. */
function compareLines(a: Line, b: Line): number {
  const { source } = a
  const byTime = source.compare(
    source,
    a.receivedAt,
    a.receivedAt + TIME_LENGTH,
    b.receivedAt,
    b.receivedAt + TIME_LENGTH,
  )
  return byTime === 0 ? (readId(b) < readId(a) ? -1 : 1) : byTime
}

function readId({ source, start }: StoredText): string {
  return source.toString('latin1', start + ID_START, source.indexOf('"', start + ID_START))
}

function readPosition(line: Line): readonly [receivedAt: number, messageId: string] {
  const receivedAt = line.source.toString('latin1', line.receivedAt, line.receivedAt + TIME_LENGTH)
  return [Date.parse(receivedAt), readId(line)]
}

export function toStoredText(folderId: string | null, text: string): StoredText {
  const source = Buffer.from(text)
  return { folderId, source, start: 0, end: source.length }
}
