import { hash } from 'node:crypto'
import { AppError } from '../errors/app-error.ts'

/** Part of every list response. `nextCursor` and `nextPageToken` are equal and opaque, present when there is another page. */
export interface Pagination {
  page: number
  limit: number
  total: number
  totalPages: number
  hasNext: boolean
  hasPrev: boolean
  totalCapped?: boolean
  partial?: boolean
  source?: 'provider'
  nextCursor?: string
  nextPageToken?: string
}

/** The types of a list's sort values, in order. Integers are zero or greater; times, in ms, may be before 1970. */
type PositionKind = 'integer' | 'time' | 'text'
type Position = readonly (string | number)[]
type PositionOf<K extends readonly PositionKind[]> = { [I in keyof K]: K[I] extends 'text' ? string : number }

/** The requested page, after defaults. `after` (from a cursor) takes precedence over `page`. */
export interface PageRequest<After extends Position = Position> {
  page: number
  limit: number
  offset: number
  /** The position in a cursor: the sort values of the last row of the previous page. */
  after?: After
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
export const DEFAULT_LIMIT = 50

/**
 * Resolves the query of a list. `filter` identifies the list (path and filters). Throws `invalid_cursor` for a cursor of another
 * list and for a position whose types differ from `kinds`, so that no forged value reaches a database or mail server. `limit`
 * takes precedence over `maxResults`, `cursor` over `page`.
 */
export function pageRequest<const K extends readonly PositionKind[]>(
  query: PageQuery,
  filter: unknown,
  kinds: K,
  defaultLimit = DEFAULT_LIMIT,
): PageRequest<PositionOf<K>> {
  const limit = Math.min(query.limit ?? query.maxResults ?? defaultLimit, MAX_LIMIT)
  const cursor = query.cursor ?? query.pageToken
  if (cursor === undefined || cursor === '') {
    const page = query.page ?? 1
    // Neither engine accepts a larger offset.
    return { page, limit, offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) }
  }
  const field = query.cursor === undefined ? 'query.pageToken' : 'query.cursor'
  const { after, page } = decodeCursor(cursor, filter, field)
  if (!isPosition(after, kinds)) throw invalidCursor(field, NOT_OURS)
  return { page, limit, offset: 0, after }
}

/**
 * Builds the response of a list. Pass one row more than `limit` when it exists, so that `hasNext` is exact. `position` returns the
 * sort values of a row for the next cursor.
 */
export function buildPage<T>(
  rows: readonly T[],
  request: Pick<PageRequest, 'page' | 'limit'>,
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

/** Adds a next page at this position, which may belong to another source than the page. */
export function continuedAt(
  pagination: Pagination,
  position: readonly (string | number)[],
  filter: unknown,
): Pagination {
  const next = encodeCursor(position, pagination.page + 1, filter)
  return { ...pagination, hasNext: true, nextCursor: next, nextPageToken: next }
}

/**
 * Pages a small, complete list in memory (endpoints, labels), sorted by `position`, which is unique. A page continues after the
 * cursor's row even when that row was deleted.
 */
export function pageOfAll<T>(
  rows: readonly T[],
  query: PageQuery,
  filter: unknown,
  position: (row: T) => string,
): Page<T> {
  const request = pageRequest(query, filter, ['text'])
  const all = rows.toSorted((left, right) => (position(left) < position(right) ? -1 : 1))
  const [after] = request.after ?? []
  const next = after === undefined ? request.offset : all.findIndex((row) => position(row) > after)
  const start = next === -1 ? all.length : next
  return buildPage(all.slice(start, start + request.limit + 1), request, all.length, filter, (row) => [position(row)])
}

function fingerprint(filter: unknown): string {
  return hash('sha256', JSON.stringify(filter), 'base64url').slice(0, 8)
}

function encodeCursor(after: readonly (string | number)[], page: number, filter: unknown): string {
  return Buffer.from(JSON.stringify([fingerprint(filter), page, ...after])).toString('base64url')
}

function decodeCursor(cursor: string, filter: unknown, field: string): { page: number; after: unknown[] } {
  const [mark, page, ...after] = parseCursor(cursor)
  if (!isCount(page)) throw invalidCursor(field, NOT_OURS)
  if (mark !== fingerprint(filter)) throw invalidCursor(field, 'belongs to another list or filter')
  return { page, after }
}

/** Empty when the text is not a JSON array. */
function parseCursor(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

function isPosition<K extends readonly PositionKind[]>(after: readonly unknown[], kinds: K): after is PositionOf<K> {
  const fits = (part: unknown, kind: PositionKind | undefined) => {
    if (kind === 'text') return typeof part === 'string'
    return kind === 'time' ? Number.isSafeInteger(part) : part === 0 || isCount(part)
  }
  return after.length === kinds.length && after.every((part, index) => fits(part, kinds[index]))
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1
}

const NOT_OURS = 'is not a cursor of this service'

function invalidCursor(path: string, message: string): AppError {
  return new AppError('invalid_cursor', { details: [{ path, message }] })
}
