import type { MailSettings } from '../../providers/contract/index.ts'
import type { AccountRow } from '../identity/store.ts'

/** The sign-in that issued the tokens of an account: its provider, or for imap the name in OAUTH_PROVIDERS. */
export function loginName({ provider, settings }: Pick<AccountRow, 'provider' | 'settings'>): string {
  if (provider !== 'imap') return provider
  const { oauth }: MailSettings = JSON.parse(settings)
  return oauth?.provider ?? provider
}
