import { GuardError } from '../../../platform/net/index.ts'
import type { ErrorMakers } from '../../../platform/threads/remote-errors.ts'
import { ProviderError, type ProviderErrorKind } from '../../contract/index.ts'

/** The errors whose class matters to callers on the other side. */
export const ERRORS: ErrorMakers = {
  ProviderError: ({ message, members, cause }) => {
    const { kind, name: _name, ...options } = members
    return new ProviderError(kind as ProviderErrorKind, message, { ...options, cause })
  },
  GuardError: ({ message, members, cause }) =>
    new GuardError(members.reason === 'refused' ? 'refused' : 'unresolved', message, { cause }),
}
