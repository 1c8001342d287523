import type { ProviderError } from '../../contract/index.ts'
import { limitExceeded } from '../errors.ts'

/** How much a server may send unasked: a burst, and the rate at which the bucket drains. */
export interface FloodLimit {
  lines: number
  bytes: number
  linesPerSecond: number
  bytesPerSecond: number
}

/** Marking 200,000 messages as read is a legitimate burst. Parsing each line costs CPU time. */
export const FLOOD_LIMIT: FloodLimit = {
  lines: 200_000,
  bytes: 32 * 1024 * 1024,
  linesPerSecond: 500,
  bytesPerSecond: 64 * 1024,
}

/** A leaky bucket of lines and bytes. */
export class FloodGauge {
  readonly #limit: FloodLimit
  #lines = 0
  #bytes = 0
  #atMs: number

  constructor(limit: FloodLimit, nowMs: number) {
    this.#limit = limit
    this.#atMs = nowMs
  }

  /** Returns true when the bucket overflows. */
  add(lines: number, bytes: number, nowMs: number): boolean {
    const { linesPerSecond, bytesPerSecond, ...capacity } = this.#limit
    const seconds = (nowMs - this.#atMs) / 1000
    this.#atMs = nowMs
    this.#lines = Math.max(0, this.#lines - seconds * linesPerSecond) + lines
    this.#bytes = Math.max(0, this.#bytes - seconds * bytesPerSecond) + bytes
    return this.#lines > capacity.lines || this.#bytes > capacity.bytes
  }
}

export function floodError(): ProviderError {
  return limitExceeded('the server sent far more than was requested, so the sync connection was closed')
}
