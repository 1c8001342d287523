import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const MIN_BYTES = 1024 * 1024

/**
 * Removes the large files below a folder from the memory of the operating system, so that the next read of them is one of the disk.
 * Nothing may have them open. Linux with GNU dd.
 */
export async function evictFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    const file = join(folder, name)
    const { size } = await stat(file)
    if (size < MIN_BYTES) continue
    // Writes what is only in memory first: other pages cannot be removed.
    await run('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none'])
  }
}

const run = promisify(execFile)
