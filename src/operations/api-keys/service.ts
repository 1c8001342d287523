import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import type { Caller } from '../../platform/http/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime, isoTimeOrNull, requireTime } from '../../platform/time/time.ts'
import type { CreateBody, KeyView } from './api.ts'
import { generateKey, included, keyHash, keyHint, widest } from './api-key.ts'
import { apiKeyStore } from './store.ts'
import type { StoredKeys } from './stored-keys.ts'
import type { ApiKeyRow } from './tables.ts'

interface ApiKeysDeps {
  db: Db
  clock: Clock
  ids: Ids
  stored: Pick<StoredKeys, 'revoked'>
}

/** API keys as the API manages them. SERVICE_API_KEY is none of them. */
export interface ApiKeys {
  /** Newest first. */
  list(query: PageQuery): Promise<Page<KeyView>>
  get(id: string): Promise<KeyView>
  /** Throws validation_failed, and forbidden for a scope that the caller lacks. The result contains the key. */
  create(tx: Tx, body: CreateBody, caller: Caller): Promise<KeyView & { key: string }>
  /** No instance accepts the key after the commit, apart from the cache of `stored`. Returns the key's last state. */
  revoke(tx: Tx, id: string): Promise<KeyView>
}

const FILTER = ['api-keys']

export function apiKeys({ db, clock, ids, stored }: ApiKeysDeps): ApiKeys {
  function parseExpiry(text: string | null | undefined): number | null {
    if (text === undefined || text === null) return null
    const expiresAt = requireTime('body.expiresAt', text)
    if (expiresAt <= clock.now()) throw invalid('body.expiresAt', 'must be in the future')
    return expiresAt
  }

  return {
    async list(query) {
      const page = pageRequest(query, FILTER, ['text'])
      const store = apiKeyStore(db.read)
      const [rows, total] = [await store.list(page), await store.count()]
      const { items, pagination } = buildPage(rows, page, total, FILTER, (row) => [row.id])
      return { items: items.map(toView), pagination }
    },

    async get(id) {
      return toView(await apiKeyStore(db.read).get(id))
    },

    async create(tx, { name, scopes, expiresAt }, caller) {
      const scope = widest(scopes)
      if (!caller.scopes.includes(scope)) {
        throw new AppError('forbidden', { message: `A key with the scope "${scope}" can only be created with one.` })
      }
      const key = generateKey()
      const row: ApiKeyRow = {
        id: ids('key'),
        keyHash: keyHash(key),
        name: name.trim(),
        scope,
        hint: keyHint(key),
        createdBy: caller.owner,
        createdAt: clock.now(),
        expiresAt: parseExpiry(expiresAt),
        lastUsedAt: null,
      }
      await apiKeyStore(tx).insert(row)
      return { ...toView(row), key }
    },

    async revoke(tx, id) {
      const row = await apiKeyStore(tx).delete(id)
      stored.revoked(tx)
      return toView(row)
    },
  }
}

function toView({ id, name, scope, hint, createdBy, createdAt, expiresAt, lastUsedAt }: ApiKeyRow): KeyView {
  return {
    id,
    name,
    scopes: [...included(scope)],
    hint,
    createdBy,
    createdAt: isoTime(createdAt),
    expiresAt: isoTimeOrNull(expiresAt),
    lastUsedAt: isoTimeOrNull(lastUsedAt),
  }
}
