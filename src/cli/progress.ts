import { systemClock } from '../platform/time/clock.ts'
import type { Terminal } from './command.ts'

/** Shorter work shows no progress. */
const FIRST_MS = 1000
const TERMINAL_MS = 200
/** Each is a line in a file. */
const LINES_MS = 10_000

/** Shows how far a long command is: on a terminal one line that changes, elsewhere a line every ten seconds. */
export function progress(terminal: Terminal) {
  const startedMs = systemClock.monotonic()
  let shownMs: number | undefined
  return {
    update(text: string): void {
      const nowMs = systemClock.monotonic()
      const everyMs = terminal.status === undefined ? LINES_MS : TERMINAL_MS
      if (nowMs - startedMs < FIRST_MS || (shownMs !== undefined && nowMs - shownMs < everyMs)) return
      shownMs = nowMs
      const show = terminal.status ?? terminal.error
      show(text)
    },
    end(): void {
      if (shownMs !== undefined) terminal.status?.('')
    },
  }
}

export function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`
}
