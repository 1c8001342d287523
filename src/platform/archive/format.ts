import type { Static } from 'typebox'
import * as Type from 'typebox'
import { schemaCheck } from '../formats/schema-check.ts'

/** The version of the format. Readers refuse others. */
export const FORMAT = 1
/** In characters. Rows are handled in batches of about this size. */
export const BATCH_LENGTH = 2 ** 17

const name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })
const count = Type.Integer({ minimum: 0 })
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

const header = Type.Object({
  posthornBackup: Type.Integer(),
  /** The version of the service that wrote it. */
  version: Type.String({ maxLength: 100 }),
  engine: Type.Enum(['sqlite', 'postgres']),
  /** When its state is from, in milliseconds. */
  createdAt: count,
  /** The applied migrations: the shape of its tables. */
  migrations: Type.Array(name),
  /** The key ring; null unless the operator asked for it. */
  keyRing: Type.Union([Type.String(), Type.Null()]),
})
const tableHead = Type.Object({ table: name, columns: Type.Array(name, { minItems: 1 }) })
const tableEnd = Type.Object({ end: name, rows: count, sha256 })
const trailer = Type.Object({ complete: Type.Literal(true), tables: count, rows: count, sha256 })

export type ArchiveHeader = Omit<Static<typeof header>, 'posthornBackup'>
export type TableHead = Static<typeof tableHead>

export const isHeader = schemaCheck(header)
export const isTableHead = schemaCheck(tableHead)
export const isTableEnd = schemaCheck(tableEnd)
export const isTrailer = schemaCheck(trailer)

export interface ArchiveSummary {
  tables: number
  rows: number
  /** The size of the compressed file. */
  sizeBytes: number
}

/** The file is not a complete backup that this version understands. The message is for the operator. */
export class ArchiveError extends Error {
  override name = 'ArchiveError'
}
