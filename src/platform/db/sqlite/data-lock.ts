import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { sleep } from '../../concurrency/abort.ts'
import { OperatorError } from '../../errors/operator-error.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { describeHolder } from './lock-holder.ts'

export interface DataLock {
  /** Throws when another process has taken the folder since. Afterwards `verify` also watches the database file. */
  confirm(): void
  /**
   * Call it before each write. Locks again when somebody deleted or replaced the lock file. Throws `DatabaseUnavailable` when another
   * process has taken the folder, or when the database file is no longer the one that this process has open, because its writes would
   * be lost. Costs a few microseconds.
   */
  verify(): void
  /** Twice safely. */
  release(): void
}

interface DataLockOptions {
  /** Called once, when the folder is in use at first. */
  onWait: () => void
  /** The database file in the folder. */
  database?: string
  /** Called when the lock file was deleted or replaced, and is locked again. */
  onRelock?: () => void
  /** Default 40 s, because instances overlap in a rolling restart. */
  waitMs?: number
  /** Ends the wait. */
  aborted?: AbortSignal | undefined
}

const WAIT_MS = 40_000
const PAUSE_MS = 250
const VERIFY_EVERY_MS = 250

/**
 * Locks the data folder for this process: the folder itself, and an open exclusive transaction on `lock.db` for systems and versions that
 * have only that. The kernel releases both when the process dies, so a lock is never stale. Throws when the folder stays in use.
 */
export async function lockDataFolder(folder: string, options: DataLockOptions): Promise<DataLock> {
  const { waitMs = WAIT_MS, aborted, database } = options
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    const lock = tryLock(folder, options)
    if (lock !== undefined) return lock
    if (waitedMs === 0) options.onWait()
    if (waitedMs >= waitMs || aborted?.aborted) throw inUse(folder, database)
    await sleep(PAUSE_MS, aborted)
  }
}

function tryLock(folder: string, options: DataLockOptions): DataLock | undefined {
  const own = lockFolder(folder)
  if (own.state === 'taken') return undefined
  try {
    const file = lockFilePath(folder)
    const handle = tryLockFile(file)
    if (handle !== undefined) return new LockedFolder(folder, own, handle, options)
  } catch (error) {
    own.release()
    throw error
  }
  own.release()
  return undefined
}

const lockFilePath = (folder: string) => join(folder, 'lock.db')

class LockedFolder implements DataLock {
  readonly #folder: string
  readonly #file: string
  readonly #own: FolderLock
  readonly #options: DataLockOptions
  #handle: Database.Database
  #identity: string | undefined
  #databaseIdentity: string | undefined
  #verifiedAtMs = Number.NEGATIVE_INFINITY

  constructor(folder: string, own: FolderLock, handle: Database.Database, options: DataLockOptions) {
    this.#folder = folder
    this.#file = lockFilePath(folder)
    this.#own = own
    this.#options = options
    this.#handle = handle
    this.#identity = fileIdentity(this.#file)
  }

  confirm(): void {
    const { database } = this.#options
    if (!this.#hasFolder()) throw inUse(this.#folder, database)
    if (database !== undefined) this.#databaseIdentity = fileIdentity(database)
  }

  verify(): void {
    const nowMs = performance.now()
    // Without the lock of the folder, another process may have begun since.
    if (this.#own.state === 'locked' && nowMs - this.#verifiedAtMs < VERIFY_EVERY_MS) return
    const { database } = this.#options
    if (database !== undefined && fileIdentity(database) !== this.#databaseIdentity) {
      throw new DatabaseUnavailable('displaced', new Error(`${database} is not the file that this process has open`))
    }
    if (!this.#hasFolder()) {
      throw new DatabaseUnavailable('displaced', new Error(`another process has locked ${this.#folder}`))
    }
    this.#verifiedAtMs = nowMs
  }

  release(): void {
    this.#handle.close()
    this.#own.release()
  }

  /** The lock of the folder is enough; the lock file follows it as soon as it can. */
  #hasFolder(): boolean {
    const identity = fileIdentity(this.#file)
    if (identity !== undefined && identity === this.#identity) return true
    const isLocked = this.#relock()
    if (isLocked) this.#options.onRelock?.()
    return isLocked || this.#own.state === 'locked'
  }

  #relock(): boolean {
    // SQLite cannot create the file in a folder that was moved.
    const handle = existsSync(this.#folder) ? tryLockFile(this.#file) : undefined
    if (handle === undefined) return false
    this.#handle.close()
    this.#handle = handle
    this.#identity = fileIdentity(this.#file)
    return true
  }
}

/** Identifies the file at a path; a file that was replaced has another identity. Undefined without a file. */
function fileIdentity(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

function inUse(folder: string, database: string | undefined): Error {
  const holder = describeHolder(lockFilePath(folder), database)
  return new OperatorError(
    `The data folder ${folder} is in use by another Posthorn process.\n${holder}Stop it, or set DATA_DIR to another folder. The folder is free as soon as that process has ended; its files need no change.`,
  )
}

function tryLockFile(file: string): Database.Database | undefined {
  const database = new Database(file)
  try {
    database.exec('pragma journal_mode = delete; begin exclusive')
    return database
  } catch (error) {
    database.close()
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined
    throw error
  }
}

/** `unsupported`: the system has no `flock` command, or the file system no such locks. */
type FolderLockState = 'locked' | 'taken' | 'unsupported'

interface FolderLock {
  readonly state: FolderLockState
  /** Twice safely. */
  release(): void
}

const FLOCK_TIMEOUT_MS = 5000
/** `flock --nonblock` exits with this when somebody else has the lock. */
const FLOCK_TAKEN = 1

/**
 * Locks the folder itself with flock(2), which ends with the process like any lock of the kernel. Nobody can delete or replace a folder
 * with files in it, and it stays the same when it is renamed, mounted elsewhere or reached over a link. Node has no such call: the
 * command `flock` locks the descriptor that it inherits, and the lock stays with ours when it has ended.
 */
function lockFolder(folder: string): FolderLock {
  let descriptor: number | undefined = openSync(folder, 'r')
  const release = () => {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }
  const { status } = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    timeout: FLOCK_TIMEOUT_MS,
  })
  if (status === 0) return { state: 'locked', release }
  release()
  return { state: status === FLOCK_TAKEN ? 'taken' : 'unsupported', release }
}
