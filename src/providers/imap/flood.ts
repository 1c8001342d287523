import { ProviderError } from '../contract/index.ts'

/** What a server may say that nobody asked for: so much at once, and what runs off in the long run. */
export interface FloodAllowance {
  lines: number
  bytes: number
  linesPerSecond: number
  bytesPerSecond: number
}

/** Marking a mailbox of 200,000 mails as read is one flood that is meant. Each line costs a parser's work. */
export const FLOOD_ALLOWANCE: FloodAllowance = {
  lines: 200_000,
  bytes: 32 * 1024 * 1024,
  linesPerSecond: 500,
  bytesPerSecond: 64 * 1024,
}

/** Whoever floods will do it again: the next connection waits. */
const PAUSE_MS = 5 * 60_000

/** A bucket that runs off at the allowed rate; it overflows when the server said too much. */
export class FloodGauge {
  readonly #allowance: FloodAllowance
  #lines = 0
  #bytes = 0
  #atMs: number

  constructor(allowance: FloodAllowance, nowMs: number) {
    this.#allowance = allowance
    this.#atMs = nowMs
  }

  /** True when it overflows. */
  heard(lines: number, bytes: number, nowMs: number): boolean {
    const { linesPerSecond, bytesPerSecond, ...capacity } = this.#allowance
    const seconds = (nowMs - this.#atMs) / 1000
    this.#atMs = nowMs
    this.#lines = Math.max(0, this.#lines - seconds * linesPerSecond) + lines
    this.#bytes = Math.max(0, this.#bytes - seconds * bytesPerSecond) + bytes
    return this.#lines > capacity.lines || this.#bytes > capacity.bytes
  }
}

export function flooded(): ProviderError {
  const why = 'the server sent far more than it was asked for, so the standing connection was given up'
  return new ProviderError('unavailable', why, { retryAfterMs: PAUSE_MS })
}
