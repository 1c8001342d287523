import { AppError } from './app-error.ts'

const CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE'])
const MAX_CAUSES = 5

/** True for an error, or the cause of one, because this process or the system has no file descriptors left. No other party is to blame. */
export function isOutOfFiles(error: unknown): boolean {
  let inner = error
  for (let depth = 0; depth < MAX_CAUSES && inner instanceof Error; depth += 1) {
    if ('code' in inner && CODES.has(inner.code)) return true
    inner = inner.cause
  }
  return false
}

/** 503: the fault is ours, and passes when other work has ended. */
export function outOfFiles(cause: unknown): AppError {
  return new AppError('not_ready', {
    message:
      'The service has too many open files and connections at the moment. Try again after the time in Retry-After.',
    headers: { 'retry-after': '5' },
    cause,
  })
}
