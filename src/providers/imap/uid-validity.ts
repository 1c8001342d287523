import type { MailboxObject } from 'imapflow'
import { ProviderError } from '../contract/index.ts'

/**
 * The name of the folder's numbering. RFC 3501 gives it 32 bits; more are taken as they come, because it is only compared, as
 * text. Throws `rejected` when there is none, or one that is no number: uids then mean nothing.
 */
export function uidValidityOf({ uidValidity }: MailboxObject): string {
  // The library's type promises more than a server keeps.
  if (typeof uidValidity === 'bigint' && uidValidity > 0n) return String(uidValidity)
  throw new ProviderError('rejected', 'the server gives the folder no usable UIDVALIDITY')
}
