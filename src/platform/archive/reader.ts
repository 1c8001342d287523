import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { errorCode } from '../errors/describe-error.ts'
import { rethrowProgrammingError } from '../errors/programming-errors.ts'
import {
  ArchiveError,
  type ArchiveHeader,
  type ArchiveSummary,
  BATCH_LENGTH,
  FORMAT,
  isHeader,
  isTableEnd,
  isTableHead,
  isTrailer,
  type TableHead,
} from './format.ts'

/** Called in the order of the file. What is passed has not been checked as a whole before `readArchive` returns. */
export interface ArchiveVisitor {
  header?(header: ArchiveHeader): void | Promise<void>
  table?(head: TableHead): void | Promise<void>
  /** Rows of the table, each one JSON array. */
  rows?(head: TableHead, rows: readonly string[]): void | Promise<void>
}

/** Longer than any row: a body of a message has at most some megabytes. */
const MAX_LINE_BYTES = 2 ** 28

/** Reads a backup to its end in constant memory and checks every count and hash. Throws `ArchiveError`. */
export async function readArchive(
  file: string,
  visitor: ArchiveVisitor,
  signal: AbortSignal,
): Promise<ArchiveSummary & { header: ArchiveHeader }> {
  const { size } = await stat(file).catch((error: unknown) => {
    rethrowProgrammingError(error)
    throw new ArchiveError(`Cannot read ${file}: it does not exist.`)
  })
  const check = new Check(file, visitor)
  const input = createReadStream(file, { signal })
  try {
    // Reading from the last stream throws what any of them throws.
    const unzipped = pipeline(input, createGunzip(), () => {})
    for await (const lines of lineBatches(unzipped, file)) await check.add(lines)
  } catch (error) {
    signal.throwIfAborted()
    throw unreadable(file, error)
  } finally {
    input.destroy()
  }
  return { ...check.end(), sizeBytes: size }
}

async function* lineBatches(stream: Readable, file: string): AsyncGenerator<string[]> {
  let rest: Buffer[] = []
  let restBytes = 0
  let lines: string[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, end))
      const line = rest.length === 1 ? (rest[0]?.toString('utf8') ?? '') : Buffer.concat(rest).toString('utf8')
      rest = []
      restBytes = 0
      from = end + 1
      lines.push(line)
      length += line.length
      if (length < BATCH_LENGTH) continue
      yield lines
      lines = []
      length = 0
    }
    if (from === chunk.length) continue
    rest.push(chunk.subarray(from))
    restBytes += chunk.length - from
    if (restBytes > MAX_LINE_BYTES) throw new ArchiveError(`${file} is damaged: a line is too long.`)
  }
  if (restBytes > 0) throw new ArchiveError(`${file} is incomplete: its last line is cut off.`)
  yield lines
}

class Check {
  readonly #file: string
  readonly #visitor: ArchiveVisitor
  readonly #manifest = createHash('sha256')
  #header: ArchiveHeader | undefined
  #table: { head: TableHead; hash: Hash; rows: number } | undefined
  #tables = 0
  #rows = 0
  #isComplete = false

  constructor(file: string, visitor: ArchiveVisitor) {
    this.#file = file
    this.#visitor = visitor
  }

  async add(lines: readonly string[]): Promise<void> {
    let first = 0
    while (first < lines.length) {
      let end = first
      while (end < lines.length && lines[end]?.startsWith('[')) end += 1
      if (end > first) await this.#addRows(lines.slice(first, end))
      const other = lines[end]
      if (other !== undefined) await this.#addOther(other)
      first = end + 1
    }
  }

  end(): { tables: number; rows: number; header: ArchiveHeader } {
    if (this.#header === undefined) throw new ArchiveError(`${this.#file} is not a Posthorn backup.`)
    if (!this.#isComplete) throw new ArchiveError(`${this.#file} is incomplete: the backup was interrupted or cut off.`)
    return { tables: this.#tables, rows: this.#rows, header: this.#header }
  }

  async #addRows(rows: readonly string[]): Promise<void> {
    if (this.#table === undefined) throw this.#damaged('rows outside of a table')
    this.#table.hash.update(`${rows.join('\n')}\n`)
    this.#table.rows += rows.length
    await this.#visitor.rows?.(this.#table.head, rows)
  }

  async #addOther(line: string): Promise<void> {
    if (this.#isComplete) throw this.#damaged('lines after its end')
    const value = this.#parse(line)
    if (this.#header === undefined) return this.#begin(line, value)
    if (isTrailer(value)) {
      if (this.#table !== undefined) throw this.#damaged(`the table ${this.#table.head.table} has no end`)
      const isRight = value.tables === this.#tables && value.rows === this.#rows
      if (!isRight || value.sha256 !== this.#manifest.digest('hex')) throw this.#damaged('its checksum is wrong')
      this.#isComplete = true
      return
    }
    this.#manifest.update(`${line}\n`)
    if (isTableHead(value) && this.#table === undefined) {
      this.#table = { head: value, hash: createHash('sha256'), rows: 0 }
      await this.#visitor.table?.(value)
    } else if (isTableEnd(value) && this.#table?.head.table === value.end) {
      const { hash, rows } = this.#table
      if (rows !== value.rows || hash.digest('hex') !== value.sha256)
        throw this.#damaged(`the checksum of the table ${value.end} is wrong`)
      this.#tables += 1
      this.#rows += rows
      this.#table = undefined
    } else throw this.#damaged('an unknown line')
  }

  async #begin(line: string, value: unknown): Promise<void> {
    const notOurs = new ArchiveError(`${this.#file} is not a Posthorn backup.`)
    if (typeof value !== 'object' || value === null || !('posthornBackup' in value)) throw notOurs
    if (value.posthornBackup !== FORMAT) {
      throw new ArchiveError(`${this.#file} was written by a newer Posthorn. Restore it with that version.`)
    }
    if (!isHeader(value)) throw this.#damaged('its first line')
    this.#manifest.update(`${line}\n`)
    const { posthornBackup: _, ...header } = value
    this.#header = header
    await this.#visitor.header?.(header)
  }

  #parse(line: string): unknown {
    try {
      return JSON.parse(line)
    } catch {
      if (this.#header === undefined) throw new ArchiveError(`${this.#file} is not a Posthorn backup.`)
      throw this.#damaged('a line is not JSON')
    }
  }

  #damaged(what: string): ArchiveError {
    return new ArchiveError(`${this.#file} is damaged: ${what}.`)
  }
}

/** Errors of zlib; those of the visitor pass. */
function unreadable(file: string, error: unknown): unknown {
  const code = errorCode(error)
  if (code === 'Z_BUF_ERROR') {
    return new ArchiveError(`${file} is incomplete: the backup was interrupted or cut off.`, { cause: error })
  }
  if (code === 'Z_DATA_ERROR' && error instanceof Error && error.message === 'incorrect header check') {
    return new ArchiveError(`${file} is not a Posthorn backup.`, { cause: error })
  }
  if (code.startsWith('Z_')) return new ArchiveError(`${file} is damaged: it cannot be decompressed.`, { cause: error })
  return error
}
