import { sha256 } from '../../platform/crypto/sha256.ts'
import { cleanText } from '../../platform/formats/text.ts'
import { isoTime, isoTimeOrNull } from '../../platform/time/time.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { Account, LinkAccount } from './account.ts'
import type { AccountRow } from './store.ts'

/** The columns that the API shows. The others, such as the sealed secrets, make a row several times as wide. */
export const SHOWN_COLUMNS = [
  'id',
  'email',
  'provider',
  'paused',
  'status',
  'statusReason',
  'watch',
  'customUserId',
  'connectionId',
  'folders',
  'sharedWith',
  'lastSyncAt',
  'tokens',
  'createdAt',
  'updatedAt',
] as const

export type ShownRow = Pick<AccountRow, (typeof SHOWN_COLUMNS)[number]>

/** An account as the API shows it. */
export function toAccount(row: ShownRow): Account {
  return {
    id: row.id,
    email: row.email,
    provider: row.provider,
    paused: row.paused === 1,
    status: row.paused === 1 ? 'paused' : row.status,
    statusReason: row.statusReason,
    watch: row.watch === 1,
    customUserId: row.customUserId,
    connectionId: row.connectionId,
    folders: row.folders === null ? null : JSON.parse(row.folders),
    sharedWith: row.sharedWith,
    lastSyncAt: isoTimeOrNull(row.lastSyncAt),
    tokens: JSON.parse(row.tokens),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

/** Builds the text that account lists search, in lower case, so that a request converts only its search words. */
export function buildSearchText({ email, customUserId }: Pick<AccountRow, 'email' | 'customUserId'>): string {
  return `${email}\n${customUserId ?? ''}`.toLowerCase()
}

/** The mail host whose limits the account shares with other accounts. */
export function mailHostOf({ provider, settings: { imap } }: Pick<LinkAccount, 'provider' | 'settings'>): string {
  return provider === 'imap' && imap !== undefined ? `${imap.host.toLowerCase()}:${imap.port}` : provider
}

/** Links with the same identity are the same account. JSON separates the parts, whatever they contain. */
export function hashIdentity(provider: ProviderName, providerUser: string, customUserId: string | null): string {
  return sha256(JSON.stringify([provider, providerUser, customUserId]), 'base64url')
}

/** The application's user id; null, never empty, without one. */
export const cleanAlias = (customUserId: string | null) => cleanText(customUserId ?? '') || null
