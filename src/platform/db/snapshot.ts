import Database from 'libsql'

export interface SnapshotTable {
  table: string
  columns: string[]
}

/** One state of the database, while others write. Holds no lock that they wait for, only storage: close it soon. */
export interface Snapshot {
  readonly engine: 'sqlite' | 'postgres'
  /** In order of their names. */
  readonly tables: readonly SnapshotTable[]
  /** Every row, in batches, as JSON arrays of its columns. One table at a time. */
  rows(table: SnapshotTable): AsyncIterable<string[]>
  close(): Promise<void>
}

/** In characters. */
const BATCH_LENGTH = 2 ** 17

/** Reads the file store in a connection of its own: SQLite's writer goes on in its WAL, which grows until the snapshot is closed. */
export async function sqliteSnapshot(file: string): Promise<Snapshot> {
  const database = new Database(file)
  try {
    database.exec('pragma busy_timeout = 5000; pragma query_only = on; begin')
    // The first read fixes the state.
    const names = readTexts(database, `select "name" from "sqlite_master" where "type" = 'table' order by "name"`)
    const tables = names
      .filter((table) => !table.startsWith('sqlite_'))
      .map((table) => ({ table, columns: readTexts(database, 'select "name" from pragma_table_info(?)', table) }))
    return { engine: 'sqlite', tables, rows, close: async () => void database.close() }
  } catch (error) {
    database.close()
    throw error
  }

  async function* rows({ table, columns }: SnapshotTable): AsyncGenerator<string[]> {
    let batch: string[] = []
    let length = 0
    const select = database.prepare(`select json_array(${columns.map(quoted).join(', ')}) from ${quoted(table)}`)
    for (const [row] of select.raw().iterate() as Iterable<[string]>) {
      batch.push(row)
      length += row.length
      if (length < BATCH_LENGTH) continue
      yield batch
      batch = []
      length = 0
    }
    yield batch
  }
}

function readTexts(database: Database.Database, text: string, ...parameters: string[]): string[] {
  return (database.prepare(text).raw().all(parameters) as [string][]).map(([value]) => value)
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
