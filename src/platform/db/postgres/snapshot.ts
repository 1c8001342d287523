import pg from 'pg'
import { quoted, type Snapshot, type SnapshotTable } from '../snapshot.ts'

/** Rows per request, from one to this many: about a hundred kilobytes. */
const MAX_ROWS = 500
const BATCH_LENGTH = 2 ** 17
/** Waits this long for a migration that runs. */
const LOCK_MS = 60_000

/** Reads PostgreSQL in one transaction. */
export async function postgresSnapshot(url: string): Promise<Snapshot> {
  const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'posthorn backup' })
  // An unhandled error would end the process; the next query throws it.
  client.on('error', () => {})
  await client.connect()
  try {
    const set = ['statement_timeout = 0', 'idle_in_transaction_session_timeout = 0', `lock_timeout = ${LOCK_MS}`]
    await client.query(set.map((setting) => `set ${setting};`).join(' '))
    await client.query('begin isolation level repeatable read read only')
    const tables = await readTables(client)
    if (tables.length > 0) {
      await client.query(`lock table ${tables.map(({ table }) => quoted(table)).join(', ')} in access share mode`)
    }
    return { engine: 'postgres', tables, rows, close: () => client.end() }
  } catch (error) {
    await client.end()
    throw error
  }

  async function* rows({ table, columns }: SnapshotTable): AsyncGenerator<string[]> {
    const array = `json_build_array(${columns.map(quoted).join(', ')})::text`
    await client.query(`declare "backup" no scroll cursor for select ${array} from ${quoted(table)}`)
    for (let limit = MAX_ROWS / 5; ; ) {
      const { rows: found } = await client.query<[string]>({
        text: `fetch forward ${limit} from "backup"`,
        rowMode: 'array',
      })
      const batch = found.map(([row]) => row)
      yield batch
      if (batch.length < limit) break
      const length = batch.reduce((sum, row) => sum + row.length, 0)
      limit = Math.max(1, Math.min(MAX_ROWS, Math.floor((limit * BATCH_LENGTH) / length)))
    }
    await client.query('close "backup"')
  }
}

/** The ordinary tables of the schema in which unqualified names are created. */
async function readTables(client: pg.Client): Promise<SnapshotTable[]> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `select c.relname as "table", array_agg(a.attname::text order by a.attnum) as "columns"
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
     group by c.relname order by c.relname`,
  )
  return rows
}
