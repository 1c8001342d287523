import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** `unsupported`: the system has no `flock` command, or the file system no such locks. */
export type FolderLockState = 'locked' | 'taken' | 'unsupported'

export interface FolderLock {
  readonly state: FolderLockState
  /** Twice safely. */
  release(): void
}

const TIMEOUT_MS = 5000
/** Of `flock --nonblock`: somebody else has the lock. */
const TAKEN = 1

/**
 * Locks the folder itself with flock(2), which ends with the process like any lock of the kernel. Nobody can delete or replace a folder
 * with files in it, and it stays the same when it is renamed, mounted elsewhere or reached over a link. Node has no such call: the
 * command `flock` locks the descriptor that it inherits, and the lock stays with ours when it has ended.
 */
export function lockFolder(folder: string): FolderLock {
  let descriptor: number | undefined = openSync(folder, 'r')
  const release = () => {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }
  const { status } = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    timeout: TIMEOUT_MS,
  })
  if (status === 0) return { state: 'locked', release }
  release()
  return { state: status === TAKEN ? 'taken' : 'unsupported', release }
}
