import { ProviderError } from '../../providers/contract/index.ts'
import { StaleRead } from '../index.ts'

interface Collection {
  id: string
  /** Null before the first listing, and when the collection is listed anew. */
  cursor: string | null
  /** Null until the first listing is complete. */
  syncedAt: number | null
}

interface CollectionReader<Row extends Collection> {
  /** Reads and stores everything that changed since the cursor. Throws `StaleRead`. */
  read(row: Row): Promise<void>
  /** The row as it is stored now, or undefined when it was removed. */
  find(id: string): Promise<Row | undefined>
  save(row: Row, changes: { cursor: null; isComparing: number }): Promise<Row>
  /** The error for a provider that has expired cursors only, also without one. */
  toGone(cause: ProviderError): ProviderError
}

/**
 * Reads the changes of a collection, and all of it when the provider no longer knows the cursor. What the API changed meanwhile is read
 * again.
 */
export async function syncFromCursor<Row extends Collection>(row: Row, reader: CollectionReader<Row>): Promise<void> {
  try {
    await readUntilFresh(row, reader)
  } catch (error) {
    if (!hasExpired(error)) throw error
    if (row.cursor === null) throw reader.toGone(error)
    const restarted = await reader.save(row, { cursor: null, isComparing: Number(row.syncedAt !== null) })
    await readUntilFresh(restarted, reader).catch((again: unknown) => {
      throw hasExpired(again) ? reader.toGone(again) : again
    })
  }
}

async function readUntilFresh<Row extends Collection>(
  started: Row,
  { read, find }: CollectionReader<Row>,
): Promise<void> {
  for (let row: Row | undefined = started; row !== undefined; ) {
    try {
      return await read(row)
    } catch (error) {
      if (!(error instanceof StaleRead)) throw error
      row = await find(row.id)
    }
  }
}

function hasExpired(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.kind === 'cursor_expired'
}
