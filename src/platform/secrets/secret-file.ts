import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../errors/describe-error.ts'
import { OperatorError } from '../errors/operator-error.ts'

/** The content of a secret file, or undefined without one. Throws for an empty file: its secret was lost. */
export function findSecret(file: string): string | undefined {
  const text = read(file)?.trim()
  if (text === '') throw new OperatorError(`${file} is empty. Restore it, or delete it to generate a new secret.`)
  return text
}

/** Writes a secret that only the owner can read. After a crash the file is complete or absent. */
export function writeSecret(file: string, text: string): void {
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
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function syncFolder(folder: string): void {
  // Without this a power loss may undo the rename; losing a key ring makes all sealed data unreadable.
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
