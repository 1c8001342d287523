import { withTimeout } from '../../platform/concurrency/abort.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import type { VerificationLimit } from './verification-limit.ts'

const VERIFY_MS = 10_000

export interface VerificationDeps {
  verifications: VerificationLimit
  /** The client's address, for requests from anybody. */
  address?: string
  /** Called when a verification begins. Its result is awaited before a failure is thrown, while the verification still counts as running. */
  onBegin?(): (failure: unknown) => Promise<void>
  timeoutMs?: number
}

/**
 * Runs the verification of a mail server when it is its turn, within 10 s. Throws `rate_limited` when too many are in progress, and
 * what `toFailure` makes of any other error.
 */
export function verification<T>(
  { verifications, address, onBegin, timeoutMs = VERIFY_MS }: VerificationDeps,
  host: string,
  verify: (signal: AbortSignal) => Promise<T>,
  toFailure: (error: unknown) => unknown,
): Promise<T> {
  const beforeFailing = onBegin?.()
  // An application that imports its users' accounts may check many of one host at once.
  const keys = address === undefined ? [] : [`host ${host}`, `address ${address}`]
  return verifications.run(keys, async () => {
    const abort = new AbortController()
    try {
      const late = () => new ProviderError('unavailable', `no response within ${timeoutMs} ms`, { timedOut: true })
      return await withTimeout(verify(abort.signal), timeoutMs, late)
    } catch (error) {
      const failure = toFailure(error)
      await beforeFailing?.(failure)
      throw failure
    } finally {
      abort.abort()
    }
  })
}
