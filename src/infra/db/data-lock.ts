import { join } from 'node:path'
import Database from 'libsql'
import { sleep } from '../../lib/abort.ts'

export interface DataLock {
  /** Twice safely. */
  release(): void
}

export interface DataLockOptions {
  /** Called once, when the first look finds the folder in use. */
  onWait: () => void
  /** Default 40 s: a rolling restart overlaps. */
  waitMs?: number
  /** Gives up at once. */
  aborted?: AbortSignal | undefined
}

const WAIT_MS = 40_000
const PAUSE_MS = 250

/**
 * One process per data folder: an exclusive transaction held open on `lock.db`. The kernel frees it on any death, so
 * there is no stale lock to clean up. Throws when the folder stays in use.
 */
export async function lockDataFolder(folder: string, options: DataLockOptions): Promise<DataLock> {
  const { waitMs = WAIT_MS, aborted } = options
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    const lock = tryLock(join(folder, 'lock.db'))
    if (lock !== undefined) return lock
    if (waitedMs === 0) options.onWait()
    if (waitedMs >= waitMs || aborted?.aborted) {
      throw new Error(
        `The data folder ${folder} is in use by another Posthorn process. Stop it, or set DATA_DIR to another folder.`,
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
