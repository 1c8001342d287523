import { ProviderError } from '../contract/index.ts'

/** How far a folder is stored. Every number is a promise about rows that were stored together with it. */
export interface Cursor {
  uidValidity: string
  /** Every message below this uid is stored, or older than what is kept. */
  uidNext: number
  /** Flag changes and removals up to this mod-sequence are stored; null where the server has none. */
  modseq: string | null
  /** Uids above were not there when the folder was first seen: they arrived. */
  baseline: number
  /** The lowest uid that is kept in step; older mail is backfill's. */
  low: number
  /** What a first sync has still to fetch, newest first. */
  pending: { left: number; refetched: boolean } | null
  /** Messages and unread ones at the server when the folder was last seen in step: a difference tells of a change. */
  exists: number
  unseen: number
  /** When flags and removals were last compared message by message; for servers without mod-sequences. */
  comparedAt: number
}

export function writeCursor(cursor: Cursor): string {
  return JSON.stringify({ v: 1, ...cursor })
}

/** Throws `cursor_expired` for anything this version did not write. */
export function readCursor(text: string): Cursor {
  try {
    const value: unknown = JSON.parse(text)
    if (isCursor(value)) return value
  } catch {
    // Not JSON: as unusable as any other text.
  }
  throw new ProviderError('cursor_expired', 'the stored position of the folder cannot be read')
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
