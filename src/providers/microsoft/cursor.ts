import { ProviderError } from '../contract/index.ts'
import { list, object, text, wholeNumber } from './json.ts'

/** How far a folder is brought forward. */
export interface Cursor {
  /** The next request for the folder's changes: a query (`?$deltatoken=…`), or a path where Graph gave another form. */
  next: string
  /** When `next` was given: an old one is renewed before Graph forgets it. */
  atMs: number
  /** The round that `next` belongs to has begun. */
  isOpen: boolean
  /** While the first listing of the folder goes on: how many messages it brought so far. Null afterwards. */
  listed: number | null
  /** The listing asked for mails since the horizon only. */
  filtered: boolean
  /** A comparison goes on: its listing, and then what has gone. */
  comparing: boolean
  horizon: Horizon
}

/** What of a mailbox is kept in step; the same for all of its folders, so that a message moved to another is found there. */
export interface Horizon {
  /** Messages received before are not stored; null where all are. */
  sinceMs: number | null
  /** What was received later is new. */
  baselineMs: number
  /** Graph knows whole seconds: of the mails received in that of the baseline, those that were there. Null: any of them may have been. */
  there: string[] | null
}

export function writeCursor({ horizon, ...rest }: Cursor): string {
  return JSON.stringify({ v: 1, ...rest, ...horizon })
}

/** Throws `cursor_expired` for anything this version did not write. */
export function readCursor(written: string): Cursor {
  try {
    const { v, next, atMs, isOpen, listed, filtered, comparing, sinceMs, baselineMs, there } = object(
      JSON.parse(written),
    )
    if (v !== 1 || typeof comparing !== 'boolean') throw new TypeError('another version')
    return {
      next: present(text(next)),
      atMs: present(wholeNumber(atMs)),
      isOpen: isOpen === true,
      listed: listed === null ? null : present(wholeNumber(listed)),
      filtered: filtered === true,
      comparing,
      horizon: {
        sinceMs: sinceMs === null ? null : present(wholeNumber(sinceMs)),
        baselineMs: present(wholeNumber(baselineMs)),
        there: there === null ? null : list(there).flatMap((mark) => text(mark) ?? []),
      },
    }
  } catch (cause) {
    throw new ProviderError('cursor_expired', 'the stored position of the folder cannot be read', { cause })
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('something is missing')
  return value
}
