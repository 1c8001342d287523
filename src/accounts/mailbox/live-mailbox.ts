import { isTimeout } from '../../platform/concurrency/abort.ts'
import { AppError, type AppErrorOptions, notFound } from '../../platform/errors/app-error.ts'
import { CONNECTION_PROBLEMS } from '../../platform/errors/connection-problems.ts'
import { isOutOfFiles, outOfFiles } from '../../platform/errors/open-files.ts'
import {
  type MailAccess,
  type MailProvider,
  type Permission,
  ProviderError,
  type ProviderName,
} from '../../providers/contract/index.ts'
import type { Accounts } from '../identity/account.ts'
import { scopeChecks } from '../tokens/required-scopes.ts'
import { CONNECT_AGAIN, sentence } from './refused-account.ts'

export interface LiveMailboxDeps {
  accounts: Pick<Accounts, 'get' | 'access'>
  /** The provider's mailbox interface; undefined for a provider that is not configured. */
  mail(provider: ProviderName): MailProvider | undefined
}

/** Throws `consent_required` when the user did not grant what this needs, and when the provider refuses the credentials. */
export async function openMailbox(
  deps: LiveMailboxDeps,
  accountId: string,
  permission: Permission,
): Promise<{ mail: MailProvider; access: MailAccess }> {
  const account = await deps.accounts.get(accountId)
  const mail = deps.mail(account.provider)
  if (mail === undefined) throw notFound('provider', account.provider)
  await scopeChecks.requireConnected(deps.accounts, account, [permission])
  return { mail, access: await deps.accounts.access(accountId) }
}

/**
 * Runs a live read and turns a provider's failure, or the end of the time that `read` has for it, into a 404, 409, 502 or 504. `what`
 * is the subject of the 404 message.
 */
export async function readLive<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (isTimeout(error)) throw new AppError('provider_timeout', { cause: error })
    throw error instanceof ProviderError ? toAppError(error, what) : error
  }
}

/** `what` is the subject of the 404 message. */
export function toAppError(error: ProviderError, what: string): AppError {
  switch (error.kind) {
    case 'not_found':
      return new AppError('not_found', { message: `${what} no longer exists at the provider.`, cause: error })
    case 'exists':
      return new AppError('conflict', { message: `${what} exists already.`, cause: error })
    case 'conflict':
      return new AppError('conflict', { message: `${what} has changed at the provider. Read it again.`, cause: error })
    case 'auth_expired':
      return credentialsRefused(error)
    case 'rejected':
      if (error.refusal === 'invalid_name') {
        return new AppError('validation_failed', { message: `${what}: ${describeNameProblem(error)}.`, cause: error })
      }
      if (error.refusal !== undefined) return new AppError(error.refusal, { cause: error })
      if (error.unsupported) return new AppError('not_supported', { message: sentence(error.message), cause: error })
      if (!error.missingScope) return new AppError('provider_rejected', { cause: error })
      return new AppError('consent_required', {
        // Nobody signs in to an account of a connection.
        message: error.isOfApplication
          ? sentence(error.message)
          : `${error.message}. Send the user through a new session (POST /auth/sessions).`,
        cause: error,
      })
    default:
      if (isOutOfFiles(error)) return outOfFiles(error)
      return new AppError(error.timedOut ? 'provider_timeout' : 'provider_unavailable', {
        ...describeFailure(error),
        ...(error.retryAfterMs !== undefined && {
          headers: { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) },
        }),
        cause: error,
      })
  }
}

/** For the detail about the field with the name. */
export function describeNameProblem({ nameProblem = '' }: ProviderError): string {
  return nameProblem === ''
    ? 'must be a name that the provider accepts'
    : `must be a name that the provider accepts, which says: ${nameProblem}`
}

/** Empty where the text of the code says all that is known. */
function describeFailure(error: ProviderError): Pick<AppErrorOptions, 'message' | 'details'> {
  const { kind, message, host, timedOut, busy, problem } = error
  if (problem !== undefined) {
    const { text, advice } = CONNECTION_PROBLEMS[problem]
    const details = [{ path: 'account', message: `its server ${text}`, code: problem }]
    return { message: `The server of this account ${text}. ${advice}`, details }
  }
  if (busy || kind === 'rate_limited') return { message: `The provider is busy: ${message}. Try again later.` }
  if (host === undefined) return {}
  return { message: timedOut ? `${host} did not respond in time.` : `Cannot reach ${host}.` }
}

function credentialsRefused(cause: ProviderError): AppError {
  return new AppError('provider_rejected', {
    message: cause.isOfApplication ? sentence(cause.message) : CONNECT_AGAIN,
    cause,
  })
}
