import type { Backoff } from '../../platform/concurrency/retry.ts'
import type { RunResult } from '../../platform/schedule/index.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { OwnershipLost } from '../index.ts'
import type { RunLog } from './run-log.ts'

/** When an account runs again whose run failed. `failures`: in a row before this run. Throws what is neither the provider's fault nor a lost account. */
export function afterFailure(error: unknown, runLog: RunLog, failures: number, { baseMs, capMs }: Backoff): RunResult {
  if (error instanceof OwnershipLost) return {}
  if (!(error instanceof ProviderError)) throw error
  // Mail sync reports refused credentials. A changed account runs again by itself.
  if (error.kind === 'auth_expired' || error.missingScope) return { failure: error }
  const pauseMs = Math.min(capMs, baseMs * 2 ** failures)
  const nextRunInMs = Math.max(pauseMs, error.retryAfterMs ?? 0)
  runLog.failed(error, { attempts: failures + 1, nextRunInMs })
  return { failure: error, nextRunInMs }
}
