import { type RawBuilder, sql } from 'kysely'
import { type Db, type Handle, PREPARED, type Tx } from '../../infra/db/index.ts'
import { TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import { type MessageHit, unindexedMessages } from '../messages/index.ts'
import { COUNT_LIMIT, type IndexQuery, type SearchIndex } from './contract.ts'
import { type SearchableMessage, termsOf } from './terms.ts'
import './tables.ts'
import { TOKENISER_VERSION } from './tokeniser.ts'

/** The index of PostgreSQL: a table of tsvectors with a GIN index. Any replica may index and search. */
export function postgresIndex(db: Db): SearchIndex {
  return {
    identity: async () => IDENTITY,
    mayHave: (identity) => identity === IDENTITY,
    indexChanges: (limit) => db.transaction((tx) => indexChanges(db, tx, Math.min(limit, MESSAGES_PER_TRANSACTION))),

    async find(query) {
      const count = await countMatches(db.read, query)
      const hits = count > COUNT_LIMIT ? await newestMatches(db.read, query) : await sortedMatches(db.read, query)
      return { hits, count }
    },

    close: async () => {},
  }
}

const IDENTITY = String(TOKENISER_VERSION)
const MESSAGES_PER_TRANSACTION = 50

/**
 * Locks the messages, so that nobody changes one between reading and indexing it. Messages that are locked keep their rows for a later
 * call: their change may be about to delete them.
 */
async function indexChanges(db: Db, tx: Tx, limit: number): Promise<number> {
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
  await write(tx, present)
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

async function write(tx: Tx, messages: readonly (SearchableMessage & { id: string; receivedAt: number })[]) {
  const rows: { messageId: string; receivedAt: number; terms: string[] }[] = []
  for (const message of messages) {
    rows.push({ messageId: message.id, receivedAt: message.receivedAt, terms: termsOf(message) })
    await yieldIfHeld(TURN_MS)
  }
  if (rows.length === 0) return
  // `array_to_tsvector` takes the terms as they are; every other way would parse them.
  await sql`insert into "messageTerms" ("messageId", "receivedAt", "terms")
    select "messageId", "receivedAt", array_to_tsvector(array(select json_array_elements_text("terms")))
    from json_to_recordset(cast(${JSON.stringify(rows)} as json)) as "given"("messageId" text, "receivedAt" bigint, "terms" json)
    on conflict ("messageId") do update set "receivedAt" = excluded."receivedAt", "terms" = excluded."terms"`.execute(
    tx,
  )
}

function tsquery({ terms }: IndexQuery): RawBuilder<unknown> {
  // Terms contain neither quotes nor backslashes. The cast parses operators, not words.
  return sql`cast(${terms.map(({ term, isPrefix }) => `'${term}'${isPrefix ? ':*' : ''}`).join(' & ')} as tsquery)`
}

/** The indexed messages that match. In a list of its own, so that the planner never applies the terms to every message. */
function matches(query: IndexQuery): RawBuilder<unknown> {
  return sql`with "matches" as materialized (
      select "messageId", "receivedAt" from "messageTerms" where "terms" @@ ${tsquery(query)} ${between('receivedAt', query)})
    select "listed"."messageId", "listed"."receivedAt" from "matches"
    join "messageLabels" as "listed" on "listed"."labelId" = ${query.labelId}
      and "listed"."receivedAt" = "matches"."receivedAt" and "listed"."messageId" = "matches"."messageId" ${flags(query)}`
}

async function countMatches(handle: Handle, query: IndexQuery): Promise<number> {
  const { rows } = await sql<{ count: number }>`${PREPARED}select count(*) as "count"
    from (${matches(query)} limit ${sql.lit(COUNT_LIMIT + 1)}) as "counted"`.execute(handle)
  return Number(rows[0]?.count ?? 0)
}

async function sortedMatches(handle: Handle, query: IndexQuery): Promise<MessageHit[]> {
  const { rows } =
    await sql<MessageHit>`${PREPARED}select "messageId", "receivedAt" from (${matches(query)}) as "listed"
    where true ${beforeCursor(query)} ${pageOf(query)}`.execute(handle)
  return rows
}

/** For terms that many messages have: reads the list and tests each message, which ends with the page. */
async function newestMatches(handle: Handle, query: IndexQuery): Promise<MessageHit[]> {
  const { rows } = await sql<MessageHit>`${PREPARED}select "messageId", "receivedAt" from "messageLabels" as "listed"
    where "labelId" = ${query.labelId} ${flags(query)} ${between('receivedAt', query)} ${beforeCursor(query)} and exists (
      select 1 from "messageTerms" where "messageTerms"."messageId" = "listed"."messageId" and "terms" @@ ${tsquery(query)} offset 0)
    ${pageOf(query)}`.execute(handle)
  return rows
}

function pageOf({ limit, offset }: IndexQuery): RawBuilder<unknown> {
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
  const one = unread === undefined ? sql`` : sql`and "unread" = ${sql.lit(unread ? 1 : 0)}`
  return hasAttachments === undefined ? one : sql`${one} and "hasAttachments" = ${sql.lit(hasAttachments ? 1 : 0)}`
}
