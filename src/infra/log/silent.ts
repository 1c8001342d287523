import type { Log } from './log.ts'

const nothing = () => {}

/** Says nothing; for tests and commands. */
export const silentLog: Log = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  with: () => silentLog,
}
