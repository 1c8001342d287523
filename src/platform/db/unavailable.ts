import { errorCode } from '../errors/describe-error.ts'

/** Why the database cannot do any work now. */
export type Outage =
  | 'unreachable'
  /** Its server accepts connections and statements, but responds to none. */
  | 'silent'
  | 'read_only'
  | 'disk_full'
  | 'disk_failed'
  | 'damaged'
  | 'busy'
  /** The files in the folder are no longer those that this process has open. */
  | 'displaced'
  | 'out_of_files'
  | 'stopping'

interface Explanation {
  /** Continues "The database is not available: …". Callers may read it. */
  summary: string
  /** Advice for the operator. */
  remedy: string
}

const RECOVERS = 'The service recovers by itself.'

const EXPLANATIONS: Readonly<Record<Outage, Explanation>> = {
  unreachable: {
    summary: 'the service cannot reach its server, or the server is starting or stopping',
    remedy: `Check that PostgreSQL runs and that DATABASE_URL is right. ${RECOVERS}`,
  },
  silent: {
    summary: 'its server does not respond',
    remedy: `Check the load, the disk and the network of PostgreSQL. ${RECOVERS}`,
  },
  read_only: {
    summary: 'it accepts no writes',
    remedy: `After a failover, let DATABASE_URL lead to the new primary. On the file store, make the file system of DATA_DIR writable. ${RECOVERS}`,
  },
  disk_full: {
    summary: 'its disk is full',
    remedy: `Free space on the disk of the database (DATA_DIR, or that of PostgreSQL). ${RECOVERS}`,
  },
  disk_failed: {
    summary: 'its disk cannot be read or written',
    remedy: `Check the disk and its mount, the permissions of DATA_DIR, and the limit of open files. ${RECOVERS}`,
  },
  damaged: {
    summary: 'its file is damaged',
    remedy: 'Stop the service, copy the files, then restore a backup (posthorn restore), or try `.recover` of sqlite3.',
  },
  busy: {
    summary: 'it is overloaded, or has no connections left',
    remedy: `Look for long transactions, other programs and too many instances. ${RECOVERS}`,
  },
  displaced: {
    summary: 'its file was moved or replaced while the service runs',
    remedy:
      'Do not stop the service before its data is safe: move the files back. If that is impossible, copy the open file from /proc/<pid>/fd.',
  },
  out_of_files: {
    summary: 'the service has too many open files to connect to it',
    remedy: `Raise the limit of open files (LimitNOFILE, ulimit -n). ${RECOVERS}`,
  },
  stopping: {
    summary: 'the service is stopping',
    remedy: 'Start it again.',
  },
}

/**
 * The database cannot do any work now: it is unreachable, read-only, damaged, or out of disk space. Never thrown for a wrong
 * statement. The transaction was rolled back, unless the connection broke during its commit: then the outcome is unknown.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  readonly outage: Outage
  /** The message of the engine or the network, for the log and the operator. */
  readonly reason: string
  /** One clause that callers may read: no paths, no addresses. */
  readonly summary: string
  readonly remedy: string
  constructor(outage: Outage, cause: unknown) {
    const reason = describeCause(cause)
    const { summary, remedy } = EXPLANATIONS[outage]
    super(`The database is not available: ${summary} (${reason}). ${remedy}`, { cause })
    this.outage = outage
    this.reason = reason
    this.summary = summary
    this.remedy = remedy
  }
}

/** Node's error for a host with several addresses has a code and no message. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || errorCode(cause)
}

/** Codes of SQLite, with their extended forms (`SQLITE_IOERR_WRITE`). */
const SQLITE: readonly (readonly [RegExp, Outage])[] = [
  [/^SQLITE_FULL/, 'disk_full'],
  [/^SQLITE_READONLY/, 'read_only'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'damaged'],
  [/^SQLITE_(BUSY|LOCKED|NOMEM|PROTOCOL)/, 'busy'],
  [/^SQLITE_(IOERR|CANTOPEN|PERM|NOLFS)/, 'disk_failed'],
]

/**
 * SQLSTATEs of what passes, or needs an operator, but is no mistake of the statement. Deadlocks and serialisation failures (40) are
 * here for when their repetition failed, too.
 */
const POSTGRES: readonly (readonly [RegExp, Outage])[] = [
  [/^25006/, 'read_only'],
  [/^53100/, 'disk_full'],
  [/^53/, 'busy'],
  [/^58/, 'disk_failed'],
  [/^XX00[12]/, 'damaged'],
  // Canceled by statement_timeout or an operator; a lock that was not available.
  [/^(57014|55P03|40)/, 'busy'],
  // 26000: a proxy moved the session to another server, which does not know its prepared statements.
  [/^(08|57P|25P03|26000)/, 'unreachable'],
]

/** Undefined for any other error. */
export function sqliteOutage(error: unknown): Outage | undefined {
  return matching(SQLITE, errorCode(error))
}

/** By the SQLSTATE of an error of the server. Undefined for any other error. */
export function postgresOutage(error: unknown): Outage | undefined {
  return matching(POSTGRES, errorCode(error))
}

function matching(outages: readonly (readonly [RegExp, Outage])[], code: string): Outage | undefined {
  return outages.find(([pattern]) => pattern.test(code))?.[1]
}
