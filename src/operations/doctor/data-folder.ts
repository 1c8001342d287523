import { randomBytes } from 'node:crypto'
import { open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describeError } from '../../platform/errors/describe-error.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { type Check, type Finding, failed, ok, warning } from './check.ts'

const MB = 1024 * 1024
const MIN_FREE_BYTES = 100 * MB
const LOW_FREE_BYTES = 1024 * MB

/** Whether the data folder, or the folder in which a start creates it, can be written, and how much space is left. */
export function dataFolderCheck(dataDir: string): Check {
  return { name: 'data folder', run: () => check(resolve(dataDir)) }
}

async function check(folder: string): Promise<Finding> {
  const existing = await existingFolder(folder)
  try {
    await writeFileIn(existing)
  } catch (error) {
    rethrowProgrammingError(error)
    return failed(
      `This user cannot write in ${existing}: ${describeError(error)}`,
      'Change the owner or the permissions of the folder, or set DATA_DIR to another one.',
    )
  }
  const { bavail, bsize } = await statfs(existing)
  const freeBytes = bavail * bsize
  const free =
    freeBytes < 10 * 1024 * MB ? `${Math.floor(freeBytes / MB)} MB` : `${Math.floor(freeBytes / MB / 1024)} GB`
  const message =
    existing === folder ? `${folder} has ${free} left.` : `The first start creates ${folder}; ${free} are left.`
  const remedy = 'Free some space, or move DATA_DIR to a larger disk. A full disk stops syncs and deliveries.'
  if (freeBytes < MIN_FREE_BYTES) return failed(message, remedy)
  return freeBytes < LOW_FREE_BYTES ? warning(message, remedy) : ok(message)
}

async function existingFolder(folder: string): Promise<string> {
  const exists = await stat(folder).then(
    () => true,
    () => false,
  )
  return exists || folder === dirname(folder) ? folder : existingFolder(dirname(folder))
}

/** The permissions alone do not show a read-only file system. */
async function writeFileIn(folder: string): Promise<void> {
  const file = join(folder, `.doctor-${randomBytes(6).toString('hex')}`)
  const handle = await open(file, 'wx', 0o600)
  await handle.close()
  await rm(file, { force: true })
}
