import type Database from 'libsql'
import { byList, COUNT_LIMIT, type IndexQuery, type IndexResult, type MessageHit, pageOfMatches } from '../contract.ts'
import { FIELD_CHARACTERS } from '../terms.ts'

/** So many messages can be received in one second. Seconds of 32 bits with these 20 stay below 2^53. */
export const PER_SECOND = 2 ** 20
const MAX_SECOND = 2 ** 32 - 1

export function toSecond(receivedAt: number): number {
  return Math.min(Math.max(Math.floor(receivedAt / 1000), 0), MAX_SECOND)
}

/** Searches in an index file to which the file store is attached as "store". */
export function finder(database: Database.Database, smallList: number): (query: IndexQuery) => IndexResult {
  database.exec(`create virtual table "temp"."terms" using fts5vocab('main', 'words', 'instance')`)
  const longer = database.prepare('select 1 from "terms" where "term" >= ? and "term" < ? limit 1')

  return (query) => {
    if (countListed(query) <= smallList) return pageOfMatches(inList(query), query)
    return query.after === undefined ? firstPages(query) : nextPage(query)
  }

  /** FTS5 reads the matches of a word as needed, but collects all of a prefix. Most words of a query have no longer ones. */
  function buildExpression(terms: IndexQuery['terms']): string {
    return terms.map(({ term, isPrefix }) => `"${term}"${isPrefix && hasLonger(term) ? '*' : ''}`).join(' ')
  }

  function hasLonger(term: string): boolean {
    // The first letter of words has an index of its own.
    return term.length <= FIELD_CHARACTERS + 1 || longer.get([`${term}\u0001`, `${term}\u{10ffff}`]) !== undefined
  }

  /** The order of the joins is fixed: FTS5 first, then one lookup by key per match. */
  function buildMatches({ terms, labelIds, filter }: IndexQuery): Matches {
    const { conditions, values } = buildConditions(filter)
    // One label: the primary key. Several: the index of message ids.
    const listed =
      labelIds.length === 1
        ? '"listed"."labelId" = ? and "listed"."receivedAt" = "entries"."receivedAt" and "listed"."messageId" = "entries"."messageId"'
        : `+"listed"."labelId" in (${labelIds.map(() => '?').join(', ')}) and "listed"."messageId" = "entries"."messageId"`
    const sql = `select "words"."rowid" as "position", "listed"."messageId", "listed"."receivedAt"
      from "words" cross join "entries" on "entries"."rowid" = "words"."rowid"
      cross join "store"."messageLabels" as "listed" on ${listed} ${conditions}
      where "words" match ? and "words"."rowid" >= ? and "words"."rowid" <= ?`
    return { sql, values: [...labelIds, ...values, buildExpression(terms)], tail: [] }
  }

  function countListed({ labelIds, filter }: IndexQuery): number {
    const { conditions, values } = buildConditions(filter)
    const labels = labelIds.map(() => '?').join(', ')
    const { count } = database
      .prepare(`select count(*) as "count" from (select 1 from "store"."messageLabels" as "listed"
        where "labelId" in (${labels}) ${conditions} limit ${smallList + 1})`)
      .get([...labelIds, ...values]) as { count: number }
    return count
  }

  /** All matches of a small list. */
  function inList({ terms, labelIds, filter }: IndexQuery): MessageHit[] {
    const { conditions, values } = buildConditions(filter)
    const rows = database
      .prepare(`select "listed"."messageId", "listed"."receivedAt" from "store"."messageLabels" as "listed"
        cross join "entries" on "entries"."messageId" = "listed"."messageId"
        where "labelId" in (${labelIds.map(() => '?').join(', ')}) ${conditions}
          and +"entries"."rowid" in (select "rowid" from "words" where "words" match ?)`)
      .all([...labelIds, ...values, buildExpression(terms)]) as MessageHit[]
    return rows.sort(byList)
  }

  /** One statement reads the page and counts, because FTS5 collects all matches of a prefix whenever it begins. */
  function firstPages(query: IndexQuery): IndexResult {
    const { offset, limit } = query
    const matches = buildMatches(query)
    const range = toRange(query.filter)
    const rows = newest(matches, range, COUNT_LIMIT + 1)
    const whole = rows.length > COUNT_LIMIT ? completeSeconds(rows) : rows.sort(byList)
    const isEnough = rows.length <= COUNT_LIMIT || whole.length > offset + limit
    const hits = isEnough ? whole.slice(offset, offset + limit + 1) : exactPage(matches, range, query)
    return { hits: hits.map(toHit), count: rows.length }
  }

  function nextPage(query: IndexQuery): IndexResult {
    const { after = [0, ''], offset, limit, filter } = query
    const matches = buildMatches(query)
    const range = toRange(filter)
    const before = { ...matches, sql: `${matches.sql} ${BEFORE_CURSOR}`, tail: [BigInt(after[0]), after[1]] }
    const below = { ...range, top: Math.min(range.top, toSecond(after[0]) * PER_SECOND + PER_SECOND - 1) }
    const fetched = offset + limit + 1 + SAME_SECOND
    const rows = newest(before, below, fetched)
    const whole = rows.length === fetched ? completeSeconds(rows) : rows.sort(byList)
    const isEnough = rows.length < fetched || whole.length > offset + limit
    const hits = isEnough ? whole.slice(offset, offset + limit + 1) : exactPage(before, below, query)
    return { hits: hits.map(toHit), count: newest(matches, range, COUNT_LIMIT + 1).length }
  }

  function newest({ sql, values, tail }: Matches, { bottom, top }: Range, limit: number): Row[] {
    return database
      .prepare(`${sql} order by "words"."rowid" desc limit ?`)
      .all([...values, BigInt(bottom), BigInt(top), ...tail, BigInt(limit)]) as Row[]
  }

  /** For deep pages by number, and for thousands of messages of one second, which are in no order in the index. */
  function exactPage({ sql, values, tail }: Matches, range: Range, { offset, limit }: IndexQuery): Row[] {
    const select = (bottom: number, order: string, count: number, skip: number) =>
      database
        .prepare(`${sql} order by ${order} limit ? offset ?`)
        .all([...values, BigInt(bottom), BigInt(range.top), ...tail, BigInt(count), BigInt(skip)]) as Row[]
    // The row that follows the page. Every message of its second may precede it.
    const [next] = select(range.bottom, '"words"."rowid" desc', 1, offset + limit)
    const bottom = next === undefined ? range.bottom : Math.floor(next.position / PER_SECOND) * PER_SECOND
    const order = '"listed"."receivedAt" desc, "listed"."messageId" desc'
    return select(Math.max(bottom, range.bottom), order, limit + 1, offset)
  }
}

/** How many messages of one second a page expects at its end. */
const SAME_SECOND = 50

interface Row extends MessageHit {
  position: number
}

/** Without the messages of the last second, of which more may follow. */
function completeSeconds(rows: readonly Row[]): Row[] {
  const last = Math.floor((rows.at(-1)?.position ?? 0) / PER_SECOND)
  return rows.filter(({ position }) => Math.floor(position / PER_SECOND) > last).sort(byList)
}

function toHit({ messageId, receivedAt }: Row): MessageHit {
  return { messageId, receivedAt }
}

type Value = string | bigint

interface Matches {
  sql: string
  values: Value[]
  /** Values that follow those of the range. */
  tail: Value[]
}

interface Range {
  bottom: number
  top: number
}

const BEFORE_CURSOR = 'and ("listed"."receivedAt", "listed"."messageId") < (?, ?)'

function buildConditions({ after, before, unread, hasAttachments }: IndexQuery['filter']) {
  const conditions: string[] = []
  const values: Value[] = []
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
  return { conditions: conditions.join(' '), values }
}

function toRange({ after, before }: IndexQuery['filter']): Range {
  const bottom = after === undefined ? 0 : toSecond(after) * PER_SECOND
  const top = (before === undefined ? MAX_SECOND : toSecond(before)) * PER_SECOND + PER_SECOND - 1
  return { bottom, top }
}
