import { join } from 'node:path'
import Database from 'libsql'
import { sleep } from '../../lib/abort.ts'

export interface DataLock {
  /** Twice safely. */
  release(): void
}

export interface DataLockOptions {
  /** Called once, when the folder is in use at first. */
  onWait: () => void
  /** Default 40 s, because instances overlap in a rolling restart. */
  waitMs?: number
  /** Ends the wait. */
  aborted?: AbortSignal | undefined
}

const WAIT_MS = 40_000
const PAUSE_MS = 250

/**
 * Locks the data folder for this process by an open exclusive transaction on `lock.db`. The kernel releases the lock when
 * the process dies, so a lock is never stale. Throws when the folder stays in use.
 */
export async function lockDataFolder(folder: string, options: DataLockOptions): Promise<DataLock> {
  const { waitMs = WAIT_MS, aborted } = options
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    const lock = tryLock(join(folder, 'lock.db'))
    if (lock !== undefined) return lock
    if (waitedMs === 0) options.onWait()
    if (waitedMs >= waitMs || aborted?.aborted) {
      throw new Error(
        `The data folder ${folder} is in use by another Posthorn process.\nStop it, or set DATA_DIR to another folder.`,
      )
    }
    await sleep(PAUSE_MS, aborted)
  }
}

function tryLock(file: string): DataLock | undefined {
  const database = new Database(file)
  try {
    database.exec('pragma journal_mode = delete; begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined
    throw error
  }
}
