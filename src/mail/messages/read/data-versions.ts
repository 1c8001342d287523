import { sql } from 'kysely'
import { nextTurn } from '../../../platform/concurrency/event-loop.ts'
import { type Db, PREPARED, padded } from '../../../platform/db/index.ts'

/** The `dataVersion` of an account as of the call or later. Undefined when there is no such account. */
type ReadDataVersion = (accountId: string) => Promise<number | undefined>

type Versions = ReadonlyMap<string, number>

interface Batch {
  accountIds: Set<string>
  versions: Promise<Versions>
}

/** So that one slow connection does not stop every list. */
const MAX_QUERIES = 2

/**
 * Reads versions for many requests with one query, which on PostgreSQL costs as much as the rest of a page that is in memory: the
 * requests that arrive in one turn of the event loop share a query, and so do those that arrive while `MAX_QUERIES` run. A query
 * that has begun may be older than the call.
 */
export function dataVersionReader({ read }: Pick<Db, 'read'>): ReadDataVersion {
  const running = new Set<Promise<unknown>>()
  let waiting: Batch | undefined

  async function query(accountIds: ReadonlySet<string>): Promise<Versions> {
    const ids = sql.join(padded([...accountIds]))
    const { rows } = await sql<{ id: string; dataVersion: number | string }>`${PREPARED}select "id", "dataVersion"
      from "accounts" where "id" in (${ids})`.execute(read)
    return new Map(rows.map(({ id, dataVersion }) => [id, Number(dataVersion)]))
  }

  async function readTogether(accountIds: ReadonlySet<string>): Promise<Versions> {
    await nextTurn()
    while (running.size >= MAX_QUERIES) await Promise.race(running)
    waiting = undefined
    const result = query(accountIds)
    const ended: Promise<unknown> = result.catch(() => {}).finally(() => running.delete(ended))
    running.add(ended)
    return result
  }

  return async (accountId) => {
    if (waiting === undefined) {
      const accountIds = new Set<string>()
      waiting = { accountIds, versions: readTogether(accountIds) }
    }
    waiting.accountIds.add(accountId)
    return (await waiting.versions).get(accountId)
  }
}
