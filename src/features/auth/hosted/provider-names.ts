import type { ProviderName } from '../../../providers/contract/index.ts'

/** As people know them, to continue with. */
export const PROVIDER_NAMES: Readonly<Record<ProviderName, string>> = {
  gmail: 'Google',
  microsoft: 'Microsoft',
  imap: 'another provider',
}
