import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { ProviderError } from '../../contract/index.ts'

/** The position of a folder. Every field describes rows that were stored together with it. */
export interface Cursor {
  uidValidity: string
  /** Every message below this UID is stored, or older than what is synced. */
  uidNext: number
  /** Flag changes and removals up to this mod-sequence are stored; null where the server has none. */
  modseq: string | null
  /** Messages above this UID arrived after the first sync began. */
  baseline: number
  /** The lowest synced UID. */
  low: number
  /** Messages that a first sync still has to fetch, newest first. */
  pending: { left: number; refetched: boolean } | null
  /** Messages and unread messages at the server when the folder was last in sync. A difference shows a change. */
  exists: number
  unseen: number
  /** When the folder was last compared message by message, for servers without mod-sequences. */
  comparedAt: number
}

export function writeCursor(cursor: Cursor): string {
  return JSON.stringify({ v: 1, ...cursor })
}

/** Throws `cursor_expired` for anything that this version did not write. */
export function readCursor(text: string): Cursor {
  try {
    const value: unknown = JSON.parse(text)
    if (isCursor(value)) return value
  } catch (error) {
    rethrowProgrammingError(error)
    // Not JSON: as unusable as any other text.
  }
  throw new ProviderError('cursor_expired', 'the stored cursor of the folder is not readable')
}

function isCursor(value: unknown): value is Cursor {
  if (typeof value !== 'object' || value === null) return false
  const fields: Record<string, unknown> = { ...value }
  const numbers = ['uidNext', 'baseline', 'low', 'exists', 'unseen', 'comparedAt']
  return (
    fields.v === 1 &&
    typeof fields.uidValidity === 'string' &&
    (fields.modseq === null || (typeof fields.modseq === 'string' && /^\d{1,20}$/.test(fields.modseq))) &&
    (fields.pending === null || isPending(fields.pending)) &&
    numbers.every((name) => Number.isSafeInteger(fields[name]))
  )
}

function isPending(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const fields: Record<string, unknown> = { ...value }
  return Number.isSafeInteger(fields.left) && typeof fields.refetched === 'boolean'
}
