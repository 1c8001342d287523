import { type RawBuilder, sql } from 'kysely'
import { type Db, type Handle, PREPARED, padded, type Tx } from '../../platform/db/index.ts'
import { unindexedMessages } from '../messages/index.ts'
import {
  COUNT_LIMIT,
  type IndexQuery,
  type MessageHit,
  pageOfMatches,
  type SearchIndex,
  SMALL_LIST,
} from './contract.ts'
import type {} from './tables.ts'
import { SearchThread } from './thread.ts'
import { TOKENISER_VERSION } from './tokeniser.ts'

/** The index of PostgreSQL: a table of tsvectors with a GIN index. Any replica may index and search. */
export function postgresIndex(
  db: Db,
  { smallList = SMALL_LIST, sortLimit = COUNT_LIMIT }: { smallList?: number; sortLimit?: number } = {},
): SearchIndex {
  const thread = new SearchThread()
  return {
    identity: async () => IDENTITY,
    mayHave: (identity) => identity === IDENTITY,
    async clear(tx) {
      await sql`truncate "messageTerms"`.execute(tx)
    },

    async indexed(messageIds) {
      if (messageIds.length === 0) return new Set()
      const rows = db.read.selectFrom('messageTerms').select('messageId').where('messageId', 'in', padded(messageIds))
      return new Set((await rows.execute()).map(({ messageId }) => messageId))
    },

    indexChanges: (limit) =>
      db.transaction((tx) => indexChanges(db, tx, thread, Math.min(limit, MESSAGES_PER_TRANSACTION))),

    async find(query) {
      if ((await countListed(db.read, query, smallList)) <= smallList)
        return pageOfMatches(await matchesInList(db.read, query), query)
      const { hits, count } = await sortedMatches(db.read, query)
      return { hits: count > sortLimit ? await newestMatches(db.read, query) : hits, count }
    },

    close: () => thread.close(),
  }
}

const IDENTITY = String(TOKENISER_VERSION)
const MESSAGES_PER_TRANSACTION = 50

/**
 * Locks the messages, so that nobody changes one between reading and indexing it, which takes the worker some 10 ms. Messages that are locked keep their rows for a later
 * call: their change may be about to delete them.
 */
async function indexChanges(db: Db, tx: Tx, thread: SearchThread, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('unindexedMessages')
    .select(['id', 'messageId'])
    .orderBy('id', 'desc')
    .limit(limit)
    .modifyEnd(db.dialect.skipLocked)
    .execute()
  if (rows.length === 0) return 0
  const wanted = [...new Set(rows.map((row) => row.messageId))]
  const present = await tx
    .selectFrom('messages')
    .select(['id', 'accountId', 'receivedAt', 'subject', 'text', 'fields'])
    .where('id', 'in', wanted)
    .modifyEnd(db.dialect.skipLocked)
    .execute()
  const found = new Set(present.map((message) => message.id))
  const missing = wanted.filter((id) => !found.has(id))
  const locked = new Set(await stored(tx, missing))
  const deleted = missing.filter((id) => !locked.has(id))
  if (present.length > 0) await write(tx, await thread.extractTerms(present))
  if (deleted.length > 0) await tx.deleteFrom('messageTerms').where('messageId', 'in', deleted).execute()
  const done = rows.filter((row) => !locked.has(row.messageId))
  await unindexedMessages(tx).remove(done.map((row) => row.id))
  return done.length
}

async function stored(tx: Tx, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('messages')
    .select('id')
    .where('id', 'in', [...ids])
    .execute()
  return rows.map((row) => row.id)
}

/** `rows`: JSON from the worker thread. */
async function write(tx: Tx, rows: string): Promise<void> {
  // `array_to_tsvector` takes the terms as they are; every other way would parse them.
  await sql`insert into "messageTerms" ("messageId", "receivedAt", "terms")
    select "messageId", "receivedAt", array_to_tsvector(array(select json_array_elements_text("terms")))
    from json_to_recordset(cast(${rows} as json)) as "given"("messageId" text, "receivedAt" bigint, "terms" json)
    on conflict ("messageId") do update set "receivedAt" = excluded."receivedAt", "terms" = excluded."terms"`.execute(
    tx,
  )
}

function tsquery({ terms }: IndexQuery): RawBuilder<unknown> {
  // Terms contain neither quotes nor backslashes. The cast parses operators, not words.
  return sql`cast(${terms.map(({ term, isPrefix }) => `'${term}'${isPrefix ? ':*' : ''}`).join(' & ')} as tsquery)`
}

/** One label: the primary key. Several: the index of message ids. */
function listedIn({ labelIds }: IndexQuery, message: RawBuilder<unknown>): RawBuilder<unknown> {
  const isMessage = sql`"listed"."messageId" = ${message}."messageId"`
  const [labelId] = labelIds
  return labelIds.length === 1
    ? sql`"listed"."labelId" = ${labelId} and "listed"."receivedAt" = ${message}."receivedAt" and ${isMessage}`
    : sql`${isMessage} and "listed"."labelId" in (${sql.join(padded(labelIds))})`
}

/** Up to one more than the limit. Ordered, because the planner otherwise expects to find these rows early in the table. */
async function countListed(handle: Handle, query: IndexQuery, limit: number): Promise<number> {
  const listed = query.labelIds.map(
    (
      labelId,
    ) => sql`(select 1 from "messageLabels" where "labelId" = ${labelId} ${flags(query)} ${between('receivedAt', query)}
      order by "receivedAt" limit ${sql.lit(limit + 1)})`,
  )
  const { rows } = await sql<{ count: number }>`${PREPARED}select count(*) as "count"
    from (${sql.join(listed, sql` union all `)}) as "counted"`.execute(handle)
  return Number(rows[0]?.count ?? 0)
}

/** All matches of a small list. Testing a message costs some 2 µs. */
async function matchesInList(handle: Handle, query: IndexQuery): Promise<MessageHit[]> {
  const { rows } = await sql<MessageHit>`${PREPARED}select "messageId", "receivedAt" from "messageLabels" as "listed"
    where "labelId" in (${sql.join(padded(query.labelIds))}) ${flags(query)} ${between('receivedAt', query)}
      and ${hasTerms(query)} order by "receivedAt" desc, "messageId" desc`.execute(handle)
  return rows
}

/** The page, and how many matches there are. Not a page of the newest when there are more than `COUNT_LIMIT`. */
async function sortedMatches(handle: Handle, query: IndexQuery): Promise<{ hits: MessageHit[]; count: number }> {
  // Lateral with an offset: otherwise the planner may read all of "messageLabels" for a join.
  const { rows } = await sql<{
    messageId: string | null
    receivedAt: number
  }>`${PREPARED}with "matches" as materialized (
      select "messageId", "receivedAt" from "messageTerms" where "terms" @@ ${tsquery(query)} ${between('receivedAt', query)}),
    "found" as materialized (select "messageId", "receivedAt" from "matches" cross join lateral (
      select 1 from "messageLabels" as "listed" where ${listedIn(query, sql`"matches"`)} ${flags(query)} offset 0) as "listed"
      limit ${sql.lit(COUNT_LIMIT + 1)})
    (select null as "messageId", count(*) as "receivedAt" from "found") union all
    (select "messageId", "receivedAt" from "found" where true ${beforeCursor(query)} ${selectPage(query)})`.execute(
    handle,
  )
  const hits = rows.flatMap(({ messageId, receivedAt }) => (messageId === null ? [] : [{ messageId, receivedAt }]))
  return { hits, count: Number(rows.find((row) => row.messageId === null)?.receivedAt ?? 0) }
}

/** For terms that many messages have: reads the list and tests each message, which ends with the page. */
async function newestMatches(handle: Handle, query: IndexQuery): Promise<MessageHit[]> {
  const { rows } =
    await sql<MessageHit>`${PREPARED}select "messageId", "receivedAt" from ${selectList(query)} as "listed"
    where true ${between('receivedAt', query)} ${beforeCursor(query)} and ${hasTerms(query)} ${selectPage(query)}`.execute(
      handle,
    )
  return rows
}

/** Reads the terms of one message after the other, never their index. */
function hasTerms(query: IndexQuery): RawBuilder<unknown> {
  return sql`exists (select 1 from "messageTerms"
    where "messageTerms"."messageId" = "listed"."messageId" and "terms" @@ ${tsquery(query)} offset 0)`
}

function selectList(query: IndexQuery): RawBuilder<unknown> {
  const { labelIds, accountId } = query
  if (labelIds.length === 1) {
    return sql`(select "messageId", "receivedAt" from "messageLabels" where "labelId" = ${labelIds[0]} ${flags(query)})`
  }
  // Several labels: the messages of the account in their order, which has no index by label.
  return sql`(select "present"."messageId", "present"."receivedAt"
    from (select "id" as "messageId", "receivedAt" from "messages" where "accountId" = ${accountId} and "goneAt" is null) as "present"
    join "messageLabels" as "listed" on ${listedIn(query, sql`"present"`)} ${flags(query)})`
}

function selectPage({ limit, offset }: IndexQuery): RawBuilder<unknown> {
  return sql`order by "receivedAt" desc, "messageId" desc limit ${sql.lit(limit + 1)} offset ${offset}`
}

function beforeCursor({ after }: IndexQuery): RawBuilder<unknown> {
  return after === undefined ? sql`` : sql`and ("receivedAt", "messageId") < (${after[0]}, ${after[1]})`
}

function between(column: string, { filter: { after, before } }: IndexQuery): RawBuilder<unknown> {
  const from = after === undefined ? sql`` : sql`and ${sql.id(column)} >= ${after}`
  return before === undefined ? from : sql`${from} and ${sql.id(column)} < ${before}`
}

/** Literals, because the planner uses a partial index only for a condition that it can see. */
function flags({ filter: { unread, hasAttachments } }: IndexQuery): RawBuilder<unknown> {
  const byUnread = unread === undefined ? sql`` : sql`and "unread" = ${sql.lit(unread ? 1 : 0)}`
  return hasAttachments === undefined
    ? byUnread
    : sql`${byUnread} and "hasAttachments" = ${sql.lit(hasAttachments ? 1 : 0)}`
}
