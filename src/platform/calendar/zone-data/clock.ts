import { type PosixRule, parsePosixRule } from './posix-rule.ts'

/** The offsets of a zone, as a TZif file has them (RFC 9636). In seconds; offsets are what is added to UTC. */
export interface ZoneClock {
  /** Before the first change. */
  initial: number
  /** In order. */
  changes: readonly OffsetChange[]
  /** A TZ string of POSIX for everything after the last change. Empty: the last offset stays. */
  footer: string
}

export interface OffsetChange {
  at: number
  offset: number
}

/** The offset at an instant, in milliseconds. */
export type ReadOffset = (utcMs: number) => number

export function offsetReader({ initial, changes, footer }: ZoneClock): ReadOffset {
  const rule: PosixRule | undefined = parsePosixRule(footer)
  const last = changes.at(-1)
  return (utcMs) => {
    const at = Math.floor(utcMs / 1000)
    if (rule !== undefined && (last === undefined || at >= last.at)) return rule.offsetAt(at) * 1000
    return (changes[lastBefore(changes, at)]?.offset ?? initial) * 1000
  }
}

/** Index of the latest change that has happened; -1: none. */
function lastBefore(changes: readonly OffsetChange[], at: number): number {
  let [low, high] = [0, changes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((changes[middle]?.at ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}
