import { AppError } from '../../lib/errors.ts'
import { ProviderError } from '../../providers/contract/index.ts'

/** Runs a live read; what the provider could not do becomes the caller's answer: 404, 502 or 504. */
export async function live<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ProviderError ? failureOf(error, what) : error
  }
}

function failureOf(error: ProviderError, what: string): AppError {
  switch (error.kind) {
    case 'not_found':
      return new AppError('not_found', { message: `${what} is no longer at the provider.`, cause: error })
    case 'auth_expired':
      return new AppError('provider_rejected', {
        message: 'The provider refuses the credentials of this account; it must be connected again.',
        cause: error,
      })
    case 'rejected':
      return new AppError('provider_rejected', { cause: error })
    default:
      return new AppError(error.timedOut ? 'provider_timeout' : 'provider_unavailable', {
        ...(error.retryAfterMs !== undefined && {
          headers: { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) },
        }),
        cause: error,
      })
  }
}
