import { existsSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'libsql'
import type { Replacement } from '../replacement.ts'
import { openSqlite } from './sqlite.ts'

const SUFFIXES = ['', '-wal', '-shm', '-journal']

/** Replaces a database file. The caller holds the lock of its folder. `derived` are databases that are deleted with the current one. */
export function fileReplacement(file: string, derived: readonly string[]): Replacement {
  const next = `${file}.restoring`
  // A killed process has left it.
  remove(next)
  const db = openSqlite({ file: next, isDraft: true, synchronous: 'NORMAL', onSlowStatement: () => {} })
  return {
    db,

    async swap() {
      await db.close()
      await sync(next)
      if (existsSync(file)) emptyWal(file)
      // SQLite would apply the WAL of another database to the new one.
      for (const suffix of SUFFIXES.slice(1)) rmSync(file + suffix, { force: true })
      // Before the rename: the service builds them again, but would use those of another state.
      for (const other of derived) remove(other)
      await sync(dirname(file))
      renameSync(next, file)
      await sync(dirname(file))
    },

    async close() {
      await db.close()
      remove(next)
    },
  }
}

function remove(file: string): void {
  for (const suffix of SUFFIXES) rmSync(file + suffix, { force: true })
}

/** Moves everything into the file itself. Throws when another process reads it. */
function emptyWal(file: string): void {
  const database = new Database(file)
  try {
    database.exec('pragma busy_timeout = 5000')
    const [isBusy] = database.prepare('pragma wal_checkpoint(truncate)').raw().get() as [number]
    if (isBusy !== 0) throw new Error('it is locked')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const remedy = /locked|busy/i.test(reason)
      ? 'Another process reads it: end that first.'
      : 'If it is damaged, move it and its -wal and -shm files to another folder.'
    throw new Error(`Cannot close the database ${file} (${reason}).\n${remedy}`, { cause })
  } finally {
    database.close()
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
