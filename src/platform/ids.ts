import { randomBytes } from 'node:crypto'
import type { Clock } from './time/clock.ts'

/** Every prefix in use. Secrets never have one of these, because ids may be logged. */
type IdPrefix =
  | 'acc'
  | 'att'
  | 'aud'
  | 'bkg'
  | 'btk'
  | 'cal'
  | 'cbk'
  | 'cev'
  | 'cgr'
  | 'cnt'
  | 'con'
  | 'dlv'
  | 'evt'
  | 'exp'
  | 'fld'
  | 'hld'
  | 'ins'
  | 'job'
  | 'key'
  | 'lbl'
  | 'log'
  | 'msg'
  | 'obx'
  | 'req'
  | 'ses'
  | 'tev'
  | 'thr'
  | 'trk'
  | 'try'
  | 'whe'

/** Creates ids such as `msg_01jd…`, sortable by time and strictly increasing within one process. */
export type Ids = (prefix: IdPrefix) => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARS = 10
const RANDOM_CHARS = 16

/** Crockford base 32, 10 characters of milliseconds then 16 of randomness (the layout of a ULID). */
export function idGenerator(clock: Clock): Ids {
  const randomTail = tails()
  let lastMs = 0
  let tail: number[] = []
  return (prefix) => {
    // A clock that steps back must not produce ids that sort before earlier ones.
    const nowMs = Math.max(clock.now(), lastMs)
    tail = nowMs === lastMs && tail.length > 0 ? increment(tail) : randomTail()
    lastMs = nowMs
    return `${prefix}_${encodeTime(nowMs)}${tail.map((digit) => ALPHABET[digit]).join('')}`
  }
}

/** Sorts before every id of the prefix that is created at this time or later. */
export function firstId(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${encodeTime(Math.max(0, ms))}`
}

/** A secret of 256 random bits: 43 URL-safe characters. */
export function secretToken(): string {
  return randomBytes(32).toString('base64url')
}

function encodeTime(ms: number): string {
  let rest = ms
  let text = ''
  for (let i = 0; i < TIME_CHARS; i += 1) {
    text = ALPHABET.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** Takes random bytes from a block, because each call of `randomBytes` costs as much as several ids. */
function tails(): () => number[] {
  let block = Buffer.alloc(0)
  let used = 0
  return () => {
    if (used === block.length) {
      block = randomBytes(RANDOM_CHARS * IDS_PER_BLOCK)
      used = 0
    }
    const digits = Array.from(block.subarray(used, used + RANDOM_CHARS), (byte) => byte & 31)
    used += RANDOM_CHARS
    digits[0] = (digits[0] ?? 0) & 15 // Leaves space to increment within one millisecond.
    return digits
  }
}

const IDS_PER_BLOCK = 64

function increment(digits: number[]): number[] {
  const next = [...digits]
  for (let i = next.length - 1; i >= 0; i -= 1) {
    const digit = (next[i] ?? 0) + 1
    next[i] = digit % 32
    if (digit < 32) break
  }
  return next
}
