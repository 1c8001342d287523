import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** The text of a secret file, or undefined when there is none. An empty file is a fault: something destroyed a secret. */
export function findKept(file: string): string | undefined {
  const text = read(file)?.trim()
  if (text === '') throw new Error(`${file} is empty. Restore it, or delete it to have a new secret made.`)
  return text
}

/** Writes a secret for the owner alone; after a crash the file is there whole or not at all. */
export function keep(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}.tmp`
  const handle = openSync(unfinished, 'w', 0o600)
  try {
    writeSync(handle, `${text}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(unfinished, file)
  syncFolder(dirname(file))
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function syncFolder(folder: string): void {
  // Without this a power loss may take the file's name back, and with a key ring all that was sealed.
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
