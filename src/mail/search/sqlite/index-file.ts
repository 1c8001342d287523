import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import Database from 'libsql'
import { errorCode } from '../../../platform/errors/describe-error.ts'
import type { IndexQuery, IndexResult } from '../contract.ts'
import { extractTerms, FIELD_CHARACTERS, type SearchableMessage } from '../terms.ts'
import { TOKENISER_VERSION } from '../tokeniser.ts'
import { finder, PER_SECOND, toSecond } from './find.ts'

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
  /** Which of these messages have an entry. */
  indexed(messageIds: readonly string[]): string[]
  find(query: IndexQuery): IndexResult
  close(): void
}

export interface IndexFileOptions {
  /** The database file of the messages. */
  store: string
  /** Created, or replaced when it is damaged or of another version. */
  file: string
  /** As `SMALL_LIST`. */
  smallList: number
}

const CACHE_KB = 16_000

export function openIndexFile({ store, file, smallList }: IndexFileOptions): IndexFile {
  const database = openDatabase(file)
  const identity = String((database.prepare('select "identity" from "index"').get() as { identity: string }).identity)
  database.prepare('attach database ? as "store"').run([store])
  const findEntry = database.prepare('select "rowid" as "position" from "entries" where "messageId" = ?')
  const findLast = database.prepare('select max("rowid") as "position" from "entries" where "rowid" between ? and ?')
  const addEntry = database.prepare('insert into "entries" ("rowid", "messageId", "receivedAt") values (?, ?, ?)')
  const addTerms = database.prepare('insert into "words" ("rowid", "terms") values (?, ?)')
  const removeEntry = database.prepare('delete from "entries" where "rowid" = ?')
  const removeTerms = database.prepare('delete from "words" where "rowid" = ?')
  const read = database.prepare(
    'select "accountId", "receivedAt", "subject", "text", "fields" from "store"."messages" where "id" = ?',
  )

  function indexOne(messageId: string): void {
    const entry = findEntry.get([messageId]) as { position: number } | undefined
    if (entry !== undefined) {
      removeTerms.run([BigInt(entry.position)])
      removeEntry.run([BigInt(entry.position)])
    }
    const message = read.get([messageId]) as (SearchableMessage & { receivedAt: number }) | undefined
    if (message === undefined) return
    const first = toSecond(message.receivedAt) * PER_SECOND
    const { position } = findLast.get([BigInt(first), BigInt(first + PER_SECOND - 1)]) as { position: number | null }
    const free = position === null ? first : position + 1
    if (free >= first + PER_SECOND) return
    addEntry.run([BigInt(free), messageId, BigInt(message.receivedAt)])
    addTerms.run([BigInt(free), extractTerms(message).join(' ')])
  }

  return {
    identity,

    index(messageIds) {
      // Not "immediate": that would lock the store, too, and its writers would wait on the main thread for the end of this transaction.
      database.exec('begin')
      try {
        for (const messageId of messageIds) indexOne(messageId)
        database.exec('commit')
      } catch (error) {
        if (database.inTransaction) database.exec('rollback')
        throw error
      }
    },

    indexed: (messageIds) => messageIds.filter((messageId) => findEntry.get([messageId]) !== undefined),

    find: finder(database, smallList),
    close: () => void database.close(),
  }
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
        prefix=${FIELD_CHARACTERS + 1},
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
  return /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error))
}

export function removeIndexFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
}
