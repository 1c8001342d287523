import { withTimeout } from '../../platform/concurrency/abort.ts'
import { describeError } from '../../platform/errors/describe-error.ts'
import { isProgrammingError } from '../../platform/errors/programming-errors.ts'

type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped'

export interface Finding {
  status: CheckStatus
  /** One sentence. Contains no secrets. */
  message: string
  /** Advice for the operator; null when there is nothing to do. */
  remedy: string | null
}

export interface CheckResult extends Finding {
  name: string
}

/** One question about the installation. It changes nothing, and ends its own requests within the time of a check. */
export interface Check {
  name: string
  /** May return several results, such as one per endpoint. Throws `Skip`, or any error, which counts as failed. */
  run(): Promise<Finding | readonly CheckResult[]>
}

export const ok = (message: string): Finding => ({ status: 'ok', message, remedy: null })
export const warning = (message: string, remedy: string): Finding => ({ status: 'warning', message, remedy })
export const failed = (message: string, remedy: string): Finding => ({ status: 'failed', message, remedy })
export const skipped = (message: string, remedy: string | null = null): Finding => ({
  status: 'skipped',
  message,
  remedy,
})

/** The check does not apply, or cannot be made. */
export class Skip extends Error {}

const CHECK_MS = 10_000

/** Runs the checks at the same time and returns their results in order. One that takes longer than `timeoutMs` has failed. */
export async function runChecks(checks: readonly Check[], timeoutMs = CHECK_MS): Promise<CheckResult[]> {
  const results = await Promise.all(checks.map((check) => runCheck(check, timeoutMs)))
  return results.flat()
}

async function runCheck({ name, run }: Check, timeoutMs: number): Promise<readonly CheckResult[]> {
  try {
    const found = await withTimeout(run(), timeoutMs, () => new TimedOut())
    return 'status' in found ? [{ name, ...found }] : found
  } catch (error) {
    if (error instanceof Skip) return [{ name, ...skipped(error.message) }]
    if (error instanceof TimedOut) {
      const remedy = 'Check whether a firewall drops the packets, or whether the other side is overloaded.'
      return [{ name, ...failed(`The check did not end within ${timeoutMs / 1000} s.`, remedy) }]
    }
    if (isProgrammingError(error)) {
      const remedy = 'Report this as a bug, with the version of Posthorn.'
      return [{ name, ...failed(`The check failed because of an internal error: ${describeError(error)}.`, remedy) }]
    }
    return [{ name, ...failed(describeError(error), 'Correct this, then run the check again.') }]
  }
}

class TimedOut extends Error {}
