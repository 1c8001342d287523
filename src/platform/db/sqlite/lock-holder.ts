import { readFileSync, statSync } from 'node:fs'

/**
 * Names the process that has locked a data folder, for an error message: a sentence with a space, or nothing where the system does not
 * say. When somebody has deleted the lock file, it is the one that has the database open and holds an exclusive lock of SQLite.
 */
export function describeHolder(lockFile: string, database: string | undefined): string {
  const locks = parseLocks(readText('/proc/locks')).filter(({ pid }) => pid > 0 && pid !== process.pid)
  const on = (file: string) => {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino
    return new Set(locks.filter((lock) => lock.inode === inode).map(({ pid }) => pid))
  }
  const users = database === undefined ? new Set<number>() : on(database)
  const exclusive = locks.find(({ pid, isExclusive }) => isExclusive && users.has(pid))?.pid
  const [pid = exclusive] = on(lockFile)
  if (pid === undefined) return ''
  const command = readCommand(pid)
  return `It is process ${pid}${command === '' ? '' : ` (${command})`}. `
}

interface Lock {
  pid: number
  inode: number
  /** SQLite locks all of its 512 bytes at 1 GB for an exclusive transaction. */
  isExclusive: boolean
}

/** `1: POSIX  ADVISORY  WRITE 7731 00:1b:8354 1073741824 1073742335` */
const LOCK = /^\d+: POSIX\s+\S+\s+(\S+)\s+(\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s+\d+\s+(\S+)$/gm
const LAST_BYTE = '1073742335'

function parseLocks(text: string): Lock[] {
  return [...text.matchAll(LOCK)].map(([, kind, pid, inode, end]) => ({
    pid: Number(pid),
    inode: Number(inode),
    isExclusive: kind === 'WRITE' && end === LAST_BYTE,
  }))
}

const MAX_COMMAND = 120

function readCommand(pid: number): string {
  return readText(`/proc/${pid}/cmdline`).split('\0').join(' ').trim().slice(0, MAX_COMMAND)
}

/** Empty where there is no such file, as on other systems than Linux, and for processes of other users. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
