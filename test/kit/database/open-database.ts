import { join } from 'node:path'
import { type Db, openSqlite } from '../../../src/platform/db/index.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'

/** Opens the database of a place as another process would: PostgreSQL when it has a URL, otherwise the file store. */
export function openDatabase(place: { dataDir: string; databaseUrl?: string | undefined }): Db {
  return place.databaseUrl === undefined || place.databaseUrl === ''
    ? openSqlite({ file: join(place.dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    : openPostgres({ url: place.databaseUrl, maxConnections: 8, onError: () => {} })
}
