import { createHash } from 'node:crypto'
import { AppError } from './errors.ts'

/** The object every list carries. `nextCursor`/`nextPageToken` are the same opaque text, present when there is more. */
export interface Pagination {
  page: number
  limit: number
  total: number
  totalPages: number
  hasNext: boolean
  hasPrev: boolean
  totalCapped?: boolean
  nextCursor?: string
  nextPageToken?: string
}

/** What a list was asked for, after defaults: `after` (from a cursor) wins over `page`. */
export interface PageRequest {
  page: number
  limit: number
  offset: number
  /** The position a cursor carries: the sort values of the last row seen. */
  after?: readonly (string | number)[]
}

export interface PageQuery {
  page?: number | undefined
  limit?: number | undefined
  maxResults?: number | undefined
  pageToken?: string | undefined
  cursor?: string | undefined
}

export interface Page<T> {
  items: T[]
  pagination: Pagination
}

export const MAX_LIMIT = 200

/**
 * Resolves a list's query. `filter` names everything that shapes the list (path and filters); a cursor made for
 * another filter is refused with `invalid_cursor`. `limit` wins over `maxResults`, `cursor` over `page`.
 */
export function pageRequest(query: PageQuery, filter: unknown, defaultLimit = 50): PageRequest {
  const limit = Math.min(query.limit ?? query.maxResults ?? defaultLimit, MAX_LIMIT)
  const cursor = query.cursor ?? query.pageToken
  if (cursor === undefined || cursor === '') {
    const page = query.page ?? 1
    // Beyond this neither engine takes it; no list is that long.
    return { page, limit, offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) }
  }
  const { after, page } = decodeCursor(cursor, filter)
  return { page, limit, offset: 0, after }
}

/**
 * Builds the answer of a list. Pass one row more than `limit` when it exists: that is how `hasNext` stays exact.
 * `position` gives the sort values of a row, for the next cursor.
 */
export function pageOf<T>(
  rows: readonly T[],
  request: PageRequest,
  total: number | { count: number; capped: boolean },
  filter: unknown,
  position: (row: T) => readonly (string | number)[],
): Page<T> {
  const items = rows.slice(0, request.limit)
  const hasNext = rows.length > request.limit
  const last = items.at(-1)
  const { count, capped } = typeof total === 'number' ? { count: total, capped: false } : total
  const next = hasNext && last !== undefined ? encodeCursor(position(last), request.page + 1, filter) : undefined
  return {
    items,
    pagination: {
      page: request.page,
      limit: request.limit,
      total: count,
      totalPages: Math.ceil(count / request.limit),
      hasNext,
      hasPrev: request.page > 1,
      ...(capped && { totalCapped: true }),
      ...(next !== undefined && { nextCursor: next, nextPageToken: next }),
    },
  }
}

/** A whole small list as one answer, paged in memory (endpoints, labels). */
export function pageOfAll<T>(
  all: readonly T[],
  query: PageQuery,
  filter: unknown,
  position: (row: T) => string,
): Page<T> {
  const request = pageRequest(query, filter)
  const start = request.after ? all.findIndex((row) => position(row) === request.after?.[0]) + 1 : request.offset
  return pageOf(all.slice(start, start + request.limit + 1), request, all.length, filter, (row) => [position(row)])
}

function fingerprint(filter: unknown): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 8)
}

function encodeCursor(after: readonly (string | number)[], page: number, filter: unknown): string {
  return Buffer.from(JSON.stringify([fingerprint(filter), page, ...after])).toString('base64url')
}

function decodeCursor(cursor: string, filter: unknown): { page: number; after: (string | number)[] } {
  const parts = parseCursor(cursor)
  const [mark, page, ...after] = parts
  if (mark !== fingerprint(filter)) {
    throw new AppError('invalid_cursor', {
      details: [{ path: 'query.cursor', message: 'belongs to another list or filter' }],
    })
  }
  if (typeof page !== 'number' || !Number.isSafeInteger(page) || page < 1) throw new AppError('invalid_cursor')
  return { page, after }
}

function parseCursor(cursor: string): (string | number)[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (
      Array.isArray(parts) &&
      parts.length > 2 &&
      parts.every((part) => typeof part === 'string' || Number.isFinite(part))
    ) {
      return parts
    }
  } catch {
    // Not JSON: the same answer as any other text that is not one of our cursors.
  }
  throw new AppError('invalid_cursor', {
    details: [{ path: 'query.cursor', message: 'is not a cursor of this service' }],
  })
}
