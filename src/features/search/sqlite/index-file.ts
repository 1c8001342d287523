import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import Database from 'libsql'
import { COUNT_LIMIT, type IndexQuery, type IndexResult } from '../contract.ts'
import { type SearchableMessage, termsOf } from '../terms.ts'
import { TOKENISER_VERSION } from '../tokeniser.ts'

/**
 * The search index of the file store: a database beside it, with FTS5 over the terms of each message and nothing else of it.
 *
 * The rowid of an entry is the second in which the message was received and a number within that second. FTS5 returns rows in that order,
 * so a page costs the same at any depth. Labels and flags are read from the file store, where they are always current.
 */
export interface IndexFile {
  readonly identity: string
  /** Brings the entries of these messages up to date, in one transaction. */
  index(messageIds: readonly string[]): void
  find(query: IndexQuery): IndexResult
  close(): void
}

export interface IndexFilePaths {
  /** The database file of the messages. */
  store: string
  /** Created, or replaced when it is damaged or of another version. */
  file: string
}

/** So many messages can be received in one second. Seconds of 32 bits with these 20 stay below 2^53. */
const PER_SECOND = 2 ** 20
const MAX_SECOND = 2 ** 32 - 1
const CACHE_KB = 16_000

export function openIndexFile({ store, file }: IndexFilePaths): IndexFile {
  const database = openDatabase(file)
  const identity = String((database.prepare('select "identity" from "index"').get() as { identity: string }).identity)
  database.prepare('attach database ? as "store"').run([store])
  const entryOf = database.prepare('select "rowid" as "position" from "entries" where "messageId" = ?')
  const lastOf = database.prepare('select max("rowid") as "position" from "entries" where "rowid" between ? and ?')
  const addEntry = database.prepare('insert into "entries" ("rowid", "messageId", "receivedAt") values (?, ?, ?)')
  const addTerms = database.prepare('insert into "words" ("rowid", "terms") values (?, ?)')
  const removeEntry = database.prepare('delete from "entries" where "rowid" = ?')
  const removeTerms = database.prepare('delete from "words" where "rowid" = ?')
  const read = database.prepare(
    'select "accountId", "receivedAt", "subject", "text", "fields" from "store"."messages" where "id" = ?',
  )

  function indexOne(messageId: string): void {
    const entry = entryOf.get([messageId]) as { position: number } | undefined
    if (entry !== undefined) {
      removeTerms.run([BigInt(entry.position)])
      removeEntry.run([BigInt(entry.position)])
    }
    const message = read.get([messageId]) as (SearchableMessage & { receivedAt: number }) | undefined
    if (message === undefined) return
    const first = secondOf(message.receivedAt) * PER_SECOND
    const { position } = lastOf.get([BigInt(first), BigInt(first + PER_SECOND - 1)]) as { position: number | null }
    const free = position === null ? first : position + 1
    if (free >= first + PER_SECOND) return
    addEntry.run([BigInt(free), messageId, BigInt(message.receivedAt)])
    addTerms.run([BigInt(free), termsOf(message).join(' ')])
  }

  return {
    identity,

    index(messageIds) {
      database.exec('begin immediate')
      try {
        for (const messageId of messageIds) indexOne(messageId)
        database.exec('commit')
      } catch (error) {
        if (database.inTransaction) database.exec('rollback')
        throw error
      }
    },

    find(query) {
      const { limit, offset, after, filter } = query
      const newest = after === undefined ? MAX_SECOND : secondOf(after[0])
      const range = rangeOf(filter)
      const top = Math.min(range.top, newest * PER_SECOND + PER_SECOND - 1)
      const matches = matchesOf(query)
      const page = (from: number, to: number, order: string, count: string, values: readonly Value[]) =>
        database
          .prepare(`${matches.sql} ${after === undefined ? '' : BEFORE_CURSOR} ${order} ${count}`)
          .all([...matches.values, BigInt(from), BigInt(to), ...cursorValues(after), ...values])
      // The row that follows the page. Every message of its second may precede it, because they are in no order within it.
      const [next] = page(range.bottom, top, 'order by "words"."rowid" desc', 'limit 1 offset ?', [
        BigInt(offset + limit),
      ]) as { position: number }[]
      const bottom = next === undefined ? range.bottom : Math.floor(next.position / PER_SECOND) * PER_SECOND
      const hits = page(
        Math.max(bottom, range.bottom),
        top,
        'order by "listed"."receivedAt" desc, "listed"."messageId" desc',
        'limit ? offset ?',
        [BigInt(limit + 1), BigInt(offset)],
      ) as { messageId: string; receivedAt: number }[]
      const isWhole = after === undefined && offset === 0 && hits.length <= limit
      return {
        hits: hits.map(({ messageId, receivedAt }) => ({ messageId, receivedAt })),
        count: isWhole ? hits.length : countOf(matches, range),
      }
    },

    close: () => void database.close(),
  }

  function countOf({ sql, values }: Matches, { bottom, top }: Range): number {
    const { count } = database
      .prepare(`select count(*) as "count" from (${sql} limit ${COUNT_LIMIT + 1})`)
      .get([...values, BigInt(bottom), BigInt(top)]) as { count: number }
    return count
  }
}

type Value = string | bigint

interface Matches {
  sql: string
  values: Value[]
}

interface Range {
  bottom: number
  top: number
}

const BEFORE_CURSOR = 'and ("listed"."receivedAt", "listed"."messageId") < (?, ?)'

function cursorValues(after: IndexQuery['after']): Value[] {
  return after === undefined ? [] : [BigInt(after[0]), after[1]]
}

/** The order of the joins is fixed: FTS5 first, then one lookup by key per match. */
function matchesOf({ terms, labelId, filter }: IndexQuery): Matches {
  const { after, before, unread, hasAttachments } = filter
  const conditions: string[] = []
  const values: Value[] = [labelId]
  if (after !== undefined) {
    conditions.push('and "listed"."receivedAt" >= ?')
    values.push(BigInt(after))
  }
  if (before !== undefined) {
    conditions.push('and "listed"."receivedAt" < ?')
    values.push(BigInt(before))
  }
  if (unread !== undefined) conditions.push(`and "listed"."unread" = ${unread ? 1 : 0}`)
  if (hasAttachments !== undefined) conditions.push(`and "listed"."hasAttachments" = ${hasAttachments ? 1 : 0}`)
  values.push(terms.map(({ term, isPrefix }) => `"${term}"${isPrefix ? '*' : ''}`).join(' '))
  const sql = `select "words"."rowid" as "position", "listed"."messageId", "listed"."receivedAt"
    from "words" cross join "entries" on "entries"."rowid" = "words"."rowid"
    cross join "store"."messageLabels" as "listed" on "listed"."labelId" = ?
      and "listed"."receivedAt" = "entries"."receivedAt" and "listed"."messageId" = "entries"."messageId"
      ${conditions.join(' ')}
    where "words" match ? and "words"."rowid" >= ? and "words"."rowid" <= ?`
  return { sql, values }
}

function rangeOf({ after, before }: IndexQuery['filter']): Range {
  const bottom = after === undefined ? 0 : secondOf(after) * PER_SECOND
  const top = (before === undefined ? MAX_SECOND : secondOf(before)) * PER_SECOND + PER_SECOND - 1
  return { bottom, top }
}

function secondOf(receivedAt: number): number {
  return Math.min(Math.max(Math.floor(receivedAt / 1000), 0), MAX_SECOND)
}

/** Deletes the file and begins anew when it is damaged or was written by another version. */
function openDatabase(file: string): Database.Database {
  try {
    const database = openWithTables(file)
    const row = database.prepare('select "tokeniser" from "index"').get() as { tokeniser: number } | undefined
    if (row?.tokeniser === TOKENISER_VERSION) return database
    database.close()
  } catch (error) {
    if (!isDamaged(error)) throw error
  }
  removeIndexFile(file)
  return openWithTables(file)
}

function openWithTables(file: string): Database.Database {
  const database = new Database(file)
  try {
    // FULL, because the queue in the file store forgets what is indexed.
    database.exec(`pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full;
      pragma cache_size = -${CACHE_KB};
      begin immediate;
      create table if not exists "index" ("identity" text not null, "tokeniser" integer not null);
      create table if not exists "entries" ("rowid" integer primary key, "messageId" text not null unique,
        "receivedAt" integer not null);
      create virtual table if not exists "words" using fts5 ("terms", content='', contentless_delete=1, detail=none,
        tokenize="ascii tokenchars '@._%+-'");`)
    const insert = database.prepare(`insert into "index" ("identity", "tokeniser")
      select ?, ? where not exists (select 1 from "index")`)
    insert.run([`${TOKENISER_VERSION} ${randomUUID()}`, BigInt(TOKENISER_VERSION)])
    database.exec('commit')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export function isDamaged(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^SQLITE_(CORRUPT|NOTADB)/.test(String(error.code))
}

export function removeIndexFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
}
