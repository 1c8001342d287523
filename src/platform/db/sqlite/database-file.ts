import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OperatorError } from '../../errors/operator-error.ts'

/** Files that an installation has from its first start on. */
const BESIDE = ['encryption-keys', 'search.db']
const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100

const RESTORE = 'Restore a backup (posthorn restore <file> --overwrite)'

/**
 * Throws for the operator when the database file cannot be what an installation left there: SQLite would begin a new database in an empty
 * one, and read nonsense from one that was cut off. Call it before SQLite opens the file, with nothing left in its WAL.
 */
export function checkDatabaseFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || (found.isFile() && found.size === 0)) {
    requireNewInstallation(file, found !== undefined)
    return
  }
  if (!found.isFile()) {
    throw new OperatorError(`${file} is not a file. Check DATA_DIR, and that nothing else is mounted there.`)
  }
  const header = readHeader(file)
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw new OperatorError(
      `${file} is not a database: its beginning was overwritten or cut off.\n${RESTORE}, or check DATA_DIR if the file is not Posthorn's.`,
    )
  }
  const missing = missingBytes(header, found.size)
  if (missing > 0) {
    throw new OperatorError(`${file} is incomplete: ${missing} bytes are missing at its end.\n${damagedRemedy(file)}`)
  }
}

/** For a database that SQLite cannot read. */
export function damagedRemedy(file: string): string {
  return `Copy the folder ${dirname(file)} first. Then ${RESTORE.charAt(0).toLowerCase()}${RESTORE.slice(1)}; without a backup, try: sqlite3 ${basename(file)} .recover`
}

function requireNewInstallation(file: string, exists: boolean): void {
  const others = BESIDE.filter((name) => statSync(join(dirname(file), name), { throwIfNoEntry: false }) !== undefined)
  const wal = `${basename(file)}-wal`
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) others.push(wal)
  if (others.length === 0) return
  throw new OperatorError(
    `${file} ${exists ? 'is empty' : 'is missing'}, but ${dirname(file)} holds ${others.join(', ')} of an installation. Its data was deleted, moved, or not copied completely.\n${RESTORE}, or put the file back. To begin anew without its data, move these files away too: ${others.join(', ')}.`,
  )
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  const opened = openSync(file, 'r')
  try {
    return header.subarray(0, readSync(opened, header, 0, HEADER_BYTES, 0))
  } finally {
    closeSync(opened)
  }
}

/** https://www.sqlite.org/fileformat.html: the size in pages counts only when the file has not been changed by an old SQLite since. */
function missingBytes(header: Buffer, sizeBytes: number): number {
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const isSizeValid = header.readUInt32BE(24) === header.readUInt32BE(92)
  return isSizeValid ? Math.max(0, header.readUInt32BE(28) * pageBytes - sizeBytes) : 0
}
