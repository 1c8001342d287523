import { type Account, StaleRead } from '../../accounts/index.ts'
import { backoffMs } from '../../platform/concurrency/retry.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import type { BackfillRow } from './store.ts'

/** The consequence of a failed step. */
export type Verdict =
  | { kind: 'deleted' }
  | { kind: 'failed'; reason: string }
  /** Reads again after the delay, from the beginning of the folder with `restartsFolder`. */
  | { kind: 'later'; delayMs: number; changes: Partial<BackfillRow>; entry?: LogEntry; restartsFolder?: boolean }
  /** The other folders are read. */
  | { kind: 'folder refused'; reason: string }

interface LogEntry {
  level: 'info' | 'warn'
  message: string
}

const RETRY = { baseMs: 2000, capMs: 10 * 60_000 }
const MAX_ATTEMPTS = 10
/** Long enough that no server locks the mailbox. */
const REFUSED_MS = 60_000
const MAX_STALE_READS = 5
/** After so many reads that were stale. */
const STALE_MS = 2000

/** Rethrows what is a fault of the service itself. */
export function judgeFailure(
  error: unknown,
  { attempts, losses }: BackfillRow,
  account: Pick<Account, 'status'>,
): Verdict {
  // Sync or the API changed something while it was read: reads it again.
  if (error instanceof StaleRead) {
    const isRepeated = attempts >= MAX_STALE_READS
    return {
      kind: 'later',
      delayMs: isRepeated ? STALE_MS : 0,
      changes: { attempts: isRepeated ? 0 : attempts + 1 },
    }
  }
  if (error instanceof AppError) {
    if (error.code === 'not_found') return { kind: 'deleted' }
    if (error.code === 'provider_rejected' || error.code === 'consent_required') {
      return { kind: 'failed', reason: error.message }
    }
  }
  if (!(error instanceof ProviderError)) throw error
  switch (error.kind) {
    case 'auth_expired':
      // A single refusal may be a mistake of the server: sync tries again, and sets the status.
      if (account.status !== 'auth_error' && attempts < MAX_ATTEMPTS) {
        return {
          kind: 'later',
          delayMs: REFUSED_MS,
          changes: { attempts: attempts + 1, lastError: 'The provider refused a login.' },
          entry: {
            level: 'info',
            message: 'The provider refused a login of a historical sync. The next attempt follows.',
          },
        }
      }
      return {
        kind: 'failed',
        reason: 'The provider refused the credentials of the account. Connect it again, then resume.',
      }
    case 'rate_limited':
      return {
        kind: 'later',
        delayMs: error.retryAfterMs ?? backoffMs(3, RETRY),
        changes: { lastError: 'The provider asked for a pause.' },
        entry: { level: 'info', message: 'The provider asked for a pause of a historical sync.' },
      }
    case 'rejected':
    case 'not_found':
      return { kind: 'folder refused', reason: error.message }
    default:
      if (attempts >= MAX_ATTEMPTS) return { kind: 'failed', reason: error.message }
      return {
        kind: 'later',
        delayMs: backoffMs(attempts + 1, RETRY),
        changes: {
          attempts: attempts + 1,
          losses: mayBeOfMessage(error) ? losses + 1 : losses,
          lastError: error.message,
        },
        entry: { level: 'warn', message: 'Cannot read older messages. The next attempt follows.' },
        restartsFolder: error.kind === 'cursor_expired',
      }
  }
}

/** Whether the connection may have ended with a message, or the server hung at one. */
function mayBeOfMessage({ kind, busy, notBegun }: ProviderError): boolean {
  return (kind === 'unavailable' || kind === 'limit_exceeded') && !busy && !notBegun
}
