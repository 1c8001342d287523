import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { buildPage, continuedAt, type Page, pageRequest } from '../../platform/formats/pagination.ts'
import { type DirectoryAccess, ProviderError } from '../../providers/contract/index.ts'
import { toAppError } from '../mailbox/live-mailbox.ts'
import type { DirectoryListQuery, DirectoryUserView } from './api.ts'
import { connectionStore } from './store.ts'
import type { ConnectionTokens, Tenants, TokenRequest } from './tokens.ts'

export interface DirectoryDeps {
  db: Db
  tenants: Tenants
  tokens: Pick<ConnectionTokens, 'accessToken'>
}

/**
 * A page of the users of a tenant, read from its directory, with their accounts. Users without an address are left out, so a page may
 * be shorter than its limit. `total` counts the users up to the end of the page.
 */
export async function listDirectory(
  { db, tenants, tokens }: DirectoryDeps,
  connectionId: string,
  query: DirectoryListQuery,
): Promise<Page<DirectoryUserView>> {
  const store = connectionStore(db.read, db.dialect)
  const { provider } = await store.get(connectionId)
  const q = query.q?.trim() || undefined
  const filter = ['directory', connectionId, q]
  const request = pageRequest(query, filter, ['text', 'integer'])
  const [next, before = 0] = request.after ?? []
  const access = directoryAccess(tokens, { connectionId, provider })
  const found = await readDirectory(() => tenants[provider].listUsers(access, { q, next, limit: request.limit }))
  const users = found.users.slice(0, request.limit)
  const accountIds = await store.accountsAt(
    connectionId,
    users.map(({ email }) => email),
  )
  const items = users.map((user) => ({ ...user, accountId: accountIds.get(user.email.toLowerCase()) ?? null }))
  const total = { count: before + items.length, capped: found.next !== null }
  const { pagination } = buildPage(items, request, total, filter, () => [])
  return {
    items,
    pagination: found.next === null ? pagination : continuedAt(pagination, [found.next, total.count], filter),
  }
}

export function directoryAccess(
  tokens: DirectoryDeps['tokens'],
  connection: Pick<TokenRequest, 'connectionId' | 'provider'>,
): DirectoryAccess {
  const { connectionId } = connection
  return {
    connectionId,
    accessToken: (refused) => tokens.accessToken({ ...connection, purpose: 'directory' }, refused),
  }
}

async function readDirectory<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof ProviderError ? toConnectionError(error) : error
  }
}

/** A failure of a connection in place of an account: no user can sign in again to repair it. */
export function toConnectionError(error: ProviderError): AppError {
  const message = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
  if (error.kind === 'auth_expired') return new AppError('provider_rejected', { message, cause: error })
  if (error.missingScope) return new AppError('consent_required', { message, cause: error })
  return toAppError(error, 'The user')
}
