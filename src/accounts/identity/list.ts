import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { type Db, type Handle, MAX_COUNT } from '../../platform/db/index.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import type { AccountFilter } from './account.ts'
import { SHOWN_COLUMNS, type ShownRow } from './account-row.ts'
import { accountQueries } from './queries.ts'

/** Entries of the index that one statement reads. On the file store it holds the event loop, for a few milliseconds. */
const STEPS = { sqlite: 5000, postgres: 20_000 }

type Reader = Pick<Db, 'read' | 'engine'>

interface AccountList {
  /** Newest first, one row more than the limit when there is one. */
  rows: ShownRow[]
  /** Exact without a filter. */
  total: { count: number; capped: boolean }
}

/**
 * A page of accounts. No index leads to a part of an address, so a filter reads the entries of all accounts in one index, which has
 * every column of the filters: `accounts_list`. It reads in steps, newest accounts first, and ends when page and count are complete.
 * Accounts of a connection have an index of their own, `accounts_connectionId`.
 */
export async function listAccounts(
  db: Reader,
  filter: AccountFilter,
  { after, offset, limit }: PageRequest<readonly [id: string]>,
): Promise<AccountList> {
  const wanted = limit + 1
  const condition = buildCondition(filter)
  if (condition === undefined) {
    const ids = await idsBelow(db.read, after?.[0], wanted, offset)
    return { rows: await byIds(db.read, ids), total: { count: await accountQueries(db.read).count(), capped: false } }
  }
  const [before] = after ?? []
  const { connectionId } = filter
  const page = await walk(db, condition, {
    connectionId,
    before,
    skip: offset,
    wanted,
    countTo: before === undefined ? MAX_COUNT : -1,
  })
  const { count } =
    before === undefined ? page : await walk(db, condition, { connectionId, skip: 0, wanted: 0, countTo: MAX_COUNT })
  const total = { count: Math.min(count, MAX_COUNT), capped: count > MAX_COUNT }
  return { rows: await byIds(db.read, page.ids), total }
}

async function idsBelow(handle: Handle, before: string | undefined, limit: number, offset: number): Promise<string[]> {
  const rows = await handle
    .selectFrom('accounts')
    .select('id')
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ id }) => id)
}

function byIds(handle: Handle, ids: readonly string[]): Promise<ShownRow[]> {
  if (ids.length === 0) return Promise.resolve([])
  return handle.selectFrom('accounts').select(SHOWN_COLUMNS).where('id', 'in', ids).orderBy('id', 'desc').execute()
}

interface Walk {
  /** Only its accounts are read. */
  connectionId: string | undefined
  /** Begins with the accounts before this one. */
  before?: string | undefined
  /** How many of those that match come before the page, and how many it has. */
  skip: number
  wanted: number
  /** Counting may end above this number. */
  countTo: number
}

interface Found {
  ids: string[]
  count: number
}

/** The ids of the page, and how many accounts match up to there at least. */
async function walk(
  db: Reader,
  condition: RawBuilder<boolean>,
  { connectionId, before, ...walk }: Walk,
): Promise<Found> {
  const limit = STEPS[db.engine]
  const found: Found = { ids: [], count: 0 }
  for (let from = before; ; ) {
    const { entries, matching, last } = await step(db.read, condition, { connectionId, from, limit })
    const skip = Math.max(0, walk.skip - found.count)
    if (matching > skip && found.ids.length < walk.wanted && last !== null) {
      found.ids.push(
        ...(await matchingIds(db.read, condition, { from, last, skip, limit: walk.wanted - found.ids.length })),
      )
    }
    found.count += matching
    if (entries < limit || last === null) return found
    if (found.ids.length >= walk.wanted && found.count > walk.countTo) return found
    from = last
    await nextTurn()
  }
}

/** Counts the accounts that match among the next ones in the index. */
async function step(
  handle: Handle,
  condition: RawBuilder<boolean>,
  { connectionId, from, limit }: { connectionId: string | undefined; from: string | undefined; limit: number },
) {
  const bounds = [
    ...(from === undefined ? [] : [sql`"id" < ${from}`]),
    ...(connectionId === undefined ? [] : [sql`"connectionId" = ${connectionId}`]),
  ]
  const where = bounds.length === 0 ? sql`` : sql`where ${sql.join(bounds, sql` and `)}`
  const { rows } = await sql<{ entries: number; matching: number; last: string | null }>`
    select count(*) as "entries", count(*) filter (where ${condition}) as "matching", min("id") as "last"
    from (select "id", "searchText", "status", "paused", "provider"${connectionId === undefined ? sql`` : sql`, "connectionId"`}
      from "accounts" ${where} order by "id" desc limit ${sql.lit(limit)}) as "some"`.execute(handle)
  const [{ entries, matching, last } = { entries: 0, matching: 0, last: null }] = rows
  return { entries: Number(entries), matching: Number(matching), last }
}

interface Range {
  from: string | undefined
  last: string
  skip: number
  limit: number
}

async function matchingIds(
  handle: Handle,
  condition: RawBuilder<boolean>,
  { from, last, skip, limit }: Range,
): Promise<string[]> {
  const rows = await handle
    .selectFrom('accounts')
    .select('id')
    .where('id', '>=', last)
    .$if(from !== undefined, (query) => query.where('id', '<', from ?? ''))
    .where(condition)
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(skip)
    .execute()
  return rows.map(({ id }) => id)
}

/** Undefined without a filter. */
function buildCondition({ q, status, provider, connectionId }: AccountFilter): RawBuilder<boolean> | undefined {
  const parts: RawBuilder<boolean>[] = []
  if (connectionId !== undefined) parts.push(sql`"connectionId" = ${connectionId}`)
  if (provider !== undefined) parts.push(sql`"provider" = ${provider}`)
  if (status === 'paused') parts.push(sql`"paused" = 1`)
  else if (status !== undefined) parts.push(sql`"paused" = 0 and "status" = ${status}`)
  if (q !== undefined) {
    const part = `%${q.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
    const hasPart = sql<boolean>`"searchText" like ${part} escape '\\'`
    // Comparing each id would take as long again.
    parts.push(q.startsWith('acc_') ? sql<boolean>`("id" = ${q} or ${hasPart})` : hasPart)
  }
  return parts.length === 0 ? undefined : sql<boolean>`${sql.join(parts, sql` and `)}`
}
