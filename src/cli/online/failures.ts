import type { ApiError } from '@posthorn/sdk'
import { describeError } from '../../platform/errors/describe-error.ts'
import { UsageError } from '../command.ts'

/**
 * What a command throws in place of an error of the SDK: a text that says what to do, and a `UsageError` when the service refuses
 * the input. Returns any other error as it is.
 */
export async function explainFailure(error: unknown, url: string): Promise<unknown> {
  // Loaded already when an error can be one of its own.
  const { ApiError, ConnectionError, InvalidResponseError, PosthornError } = await import('@posthorn/sdk')
  if (error instanceof ConnectionError) return unreachable(error, url)
  if (error instanceof InvalidResponseError) return foreignResponse(error.status, url)
  if (error instanceof ApiError) return isForeign(error) ? foreignResponse(error.status, url) : refusal(error)
  // An operand that cannot be an id.
  return error instanceof PosthornError ? new UsageError(error.message) : error
}

/** As `explainFailure`, for commands that print the status of a refused request. */
export async function explainStatus(error: unknown, url: string): Promise<unknown> {
  const { ApiError, ConnectionError } = await import('@posthorn/sdk')
  if (error instanceof ConnectionError) {
    return new Error(`Cannot reach ${url} (${reasonOf(error)}). Check --url, and that the service is running.`)
  }
  if (!(error instanceof ApiError)) return explainFailure(error, url)
  const { status, message } = error
  return new Error(`The service responded ${status}${isForeign(error) ? '.' : `: ${message}`}`)
}

/** True for a response of something else than the service, such as a proxy. */
export function isForeign({ code, status }: ApiError): boolean {
  return code === `http_${status}`
}

/** @param error what `fetch` or the SDK throws */
export function unreachable(error: unknown, url: string): Error {
  return new Error(
    `Cannot reach the service at ${url} (${reasonOf(error)}).\nStart it (posthorn start), or pass its address with --url.`,
  )
}

export function foreignResponse(status: number, url: string): Error {
  return new Error(`${url} responded ${status}, but not as Posthorn does.\nCheck --url or PUBLIC_URL.`)
}

function refusal(error: ApiError): Error {
  const { status, message } = error
  switch (status) {
    case 400:
      return new UsageError(message)
    case 401:
      return new Error(`${message}\nPass it with --key, or run the command where the service has its settings.`)
    case 403:
      return new Error(`${message}\nPass another key with --key. SERVICE_API_KEY has every scope.`)
    default:
      return error
  }
}

/** The reason alone. `fetch` and the SDK each put a sentence before it. */
function reasonOf(error: unknown): string {
  const innermost = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return describeError(innermost).replace(/\.$/, '')
}
