import { closeSync, openSync, readFileSync } from 'node:fs'
import { isOutOfFiles } from '../platform/errors/open-files.ts'
import type { Log } from '../platform/log/index.ts'
import type { Clock } from '../platform/time/clock.ts'

const CHECK_EVERY_MS = 2000
const REPORT_EVERY_MS = 60_000
const PROBE = '/dev/null'

/**
 * Logs once a minute that there are no file descriptors left, with the limit and the remedy. The kernel resets connections that cannot be
 * accepted, and no error says so; therefore it opens a file from time to time.
 */
export function openFilesWatch({ log, clock }: { log: Log; clock: Clock }) {
  let timer: NodeJS.Timeout | undefined
  let reportedAtMs = Number.NEGATIVE_INFINITY
  // Read now, because reading needs a descriptor.
  let limit = openFilesLimit()

  function check(): void {
    try {
      closeSync(openSync(PROBE, 'r'))
      limit = openFilesLimit() ?? limit
    } catch (error) {
      if (isOutOfFiles(error)) report(error)
    }
  }

  function report(error: unknown): void {
    if (clock.monotonic() - reportedAtMs < REPORT_EVERY_MS) return
    reportedAtMs = clock.monotonic()
    const of = limit === undefined ? '' : ` (its limit is ${limit})`
    log.error(
      `The process has no file descriptors left${of}: connections are reset, and files cannot be opened. Raise the limit: LimitNOFILE in the systemd unit, --ulimit nofile for a container, or ulimit -n in the shell.`,
      { operation: 'service.files', error, metadata: { limit } },
    )
  }

  return {
    start() {
      timer = setInterval(check, CHECK_EVERY_MS)
    },
    async stop() {
      clearInterval(timer)
    },
  }
}

/** `Max open files            1024                 524288               files` */
function openFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    // Other systems than Linux have no such file.
    return undefined
  }
}
