import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, readdirSync, rmSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { ArchiveError, type ArchiveHeader, type ArchiveSummary, FORMAT, type TableHead } from './format.ts'

interface ArchiveContent {
  header: ArchiveHeader
  /** Each with its rows in batches, every row one JSON array without line ends. */
  tables: readonly (TableHead & { rows(): AsyncIterable<readonly string[]> })[]
}

interface WriteOptions {
  /** Called after each batch with the number of rows so far. */
  onRows?(table: string, rows: number): void
  signal: AbortSignal
}

/**
 * Writes a backup that only the owner can read, in constant memory. The file appears when it is complete and on the disk; a failure
 * leaves nothing. What a killed process has left is removed by the next call for the same file. Throws `ArchiveError` when it exists.
 */
export async function writeArchive(
  file: string,
  content: ArchiveContent,
  { onRows = () => {}, signal }: WriteOptions,
): Promise<ArchiveSummary> {
  if (existsSync(file)) throw new ArchiveError(`${file} exists already. Choose another name.`)
  removeLeftovers(file)
  const partial = `${file}.${process.pid}.partial`
  const summary = { tables: content.tables.length, rows: 0 }
  const counted = (table: string, rows: number) => {
    summary.rows += rows
    onRows(table, summary.rows)
  }
  try {
    const compressed = createGzip({ level: constants.Z_BEST_SPEED })
    // Flushed to the disk before it is closed.
    const output = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true })
    await pipeline(Readable.from(formatLines(content, counted), { highWaterMark: 2 }), compressed, output, { signal })
    await rename(partial, file)
    await syncFolder(dirname(file))
    return { ...summary, sizeBytes: (await stat(file)).size }
  } catch (error) {
    await rm(partial, { force: true })
    signal.throwIfAborted()
    throw error
  }
}

async function* formatLines(
  { header, tables }: ArchiveContent,
  onRows: (table: string, rows: number) => void,
): AsyncGenerator<string> {
  const manifest = createHash('sha256')
  const line = (value: unknown) => {
    const text = `${JSON.stringify(value)}\n`
    manifest.update(text)
    return text
  }
  yield line({ posthornBackup: FORMAT, ...header })
  let total = 0
  for (const { table, columns, rows } of tables) {
    yield line({ table, columns } satisfies TableHead)
    const hash = createHash('sha256')
    let count = 0
    for await (const batch of rows()) {
      if (batch.length === 0) continue
      const text = `${batch.join('\n')}\n`
      hash.update(text)
      count += batch.length
      yield text
      onRows(table, batch.length)
    }
    total += count
    yield line({ end: table, rows: count, sha256: hash.digest('hex') })
  }
  yield `${JSON.stringify({ complete: true, tables: tables.length, rows: total, sha256: manifest.digest('hex') })}\n`
}

/** Removes unfinished files of processes that no longer run. */
function removeLeftovers(file: string): void {
  const folder = dirname(file)
  if (!existsSync(folder)) throw new ArchiveError(`The folder ${folder} does not exist.`)
  const prefix = `${basename(file)}.`
  for (const name of readdirSync(folder)) {
    const pid = /^(\d+)\.partial$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '')?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return pid !== process.pid
  } catch (error) {
    // It runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Without this a power loss may undo the rename. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
