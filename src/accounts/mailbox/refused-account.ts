import { AppError } from '../../platform/errors/app-error.ts'
import type { Account } from '../identity/account.ts'

export const CONNECT_AGAIN = 'The provider refused the credentials of this account. Connect the account again.'

/** For an account in auth_error. Nobody signs in to one of a connection, so its reason says what to repair. */
export function refusedAccount({
  connectionId,
  statusReason,
}: Pick<Account, 'connectionId' | 'statusReason'>): AppError {
  const isOfConnection = connectionId !== null && statusReason !== null
  return new AppError('provider_rejected', {
    message: isOfConnection
      ? `${sentence(statusReason)} The mailbox is opened by the connection ${connectionId}.`
      : CONNECT_AGAIN,
  })
}

/** `creating an event: Outlook …` becomes `Creating an event: Outlook ….` */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
}
